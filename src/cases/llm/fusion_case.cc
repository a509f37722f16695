// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "cases/llm/case_list.h"
#include "cases/llm/cases.h"
#include "cases/llm/fusion_point.h"
#include "cases/llm/graph_peers.h"
#include "cases/llm/oracle/plain_fusion.h"
#include "lab/record/sample_rows.h"

namespace assay::cases::llm {
namespace {

constexpr std::int64_t kRowWidth = 4096;
constexpr double kOracleElements = 0x1p21;  // half a second of sines
constexpr double kReferenceElements = 0x1p22;

class FusionCase : public lab::Case {
 public:
  std::string_view suite() const override { return kSuite; }
  std::string_view name() const override { return "graph_fusion"; }
  std::string_view description() const override {
    return "elementwise graphs, with and without reductions along rows, as one pass over memory";
  }
  const lab::PointSchema& schema() const override {
    static const lab::PointSchema kSchema(
        {{"graph",
          "what is computed",
          0,
          0,
          {"affine", "chain", "gate", "diamond", "chain_sum", "norm", "softmax"},
          ""},
         {"n", "elements of an input", 1, 1 << 28, {}, ""},
         {"width", "of a row; divides n", 1, 1 << 28, {}, ""},
         {"dtype", "of inputs and output", 0, 0, {"f32", "bf16", "f16"}, ""},
         {"seed", "of the inputs", 0, 1 << 30, {}, ""}});
    return kSchema;
  }
  // Rows are of 4096 elements where nothing else is said, or there is one.
  Json complete_point(const Json& given, const Json& defaults) const override {
    Json base = defaults;
    const auto n = given.is_object() ? given.value("n", Json()) : Json();
    if (n.is_number_integer() && n.get<std::int64_t>() % kRowWidth != 0) base["width"] = n;
    auto point = schema().complete(given, base);
    if (lab::point_int(point, "n") % lab::point_int(point, "width") != 0)
      fail("point: rows of {} do not make {} elements", canonical_json(point["width"]),
           canonical_json(point["n"]));
    return point;
  }
  std::vector<Json> representative_points() const override {
    return {point("chain", 1 << 20, "f32"), point("norm", 1 << 20, "f32")};
  }
  std::vector<Json> standard_points() const override {
    auto points = representative_points();
    for (const char* dtype : {"f32", "bf16"}) {
      for (const char* graph : kGraphs) points.push_back(point(graph, 1 << 24, dtype));
    }
    return points;
  }
  std::vector<Json> all_points() const override {
    std::vector<Json> points;
    for (const char* dtype : {"f32", "bf16", "f16"}) {
      for (const char* graph : kGraphs) {
        for (const int n : {1 << 12, 1 << 16, 1 << 20, 1 << 24})
          points.push_back(point(graph, n, dtype));
      }
    }
    return points;
  }
  std::vector<lab::Provider> providers() const override { return graph_providers(); }
  std::string_view baseline() const override { return "torch"; }
  std::optional<lab::Skip> why_not(const Json& json, std::string_view provider,
                                   std::string_view) const override {
    const FusionPoint p(json);
    if (provider == "assay-reference" && static_cast<double>(p.n) > kReferenceElements)
      return lab::Skip{"provider_not_applicable", "node by node in f64 takes minutes"};
    if (provider == "assay-searched" && static_cast<double>(p.n) > kReferenceElements)
      return lab::Skip{"provider_not_applicable", "verifying a candidate takes minutes"};
    return why_no_graph(provider, p.dtype, false);
  }
  std::uint64_t memory_estimate(const Json& json, std::string_view provider) const override {
    const FusionPoint p(json);
    double bytes = 2 * p.bytes() + p.output_bytes();
    // Intermediate results; the reference keeps every node's.
    bytes += (provider == "assay-reference" || provider == "assay-searched" ? 24 : 3) * 4.0 *
             static_cast<double>(p.n);
    return static_cast<std::uint64_t>(bytes) + graph_worker_bytes(provider);
  }
  std::map<std::string, double> work(const Json& json) const override {
    const FusionPoint p(json);
    return {{"bytes", p.bytes() + p.output_bytes()}};
  }
  std::optional<lab::Limit> limit(const Json& json, int cores,
                                  const lab::Ceilings& ceilings) const override {
    return graph_limit(0, work(json).at("bytes"), cores, ceilings);
  }
  std::vector<lab::FigureRecipe> figures() const override {
    return {{.name = "graphs",
             .title = "Fused graphs of 2²⁴ elements, of the bytes' limit",
             .form = lab::FigureForm::kBars,
             .x = {"graph"},
             .y = "fraction_of_limit",
             .y_label = "of the memory's rate",
             .pages = {"dtype"},
             .only = {{"n", 1 << 24}}},
            {.name = "time",
             .title = "Fused graphs, time of a call",
             .x = {"n"},
             .x_label = "elements of an input",
             .pages = {"graph", "dtype"},
             .log_x = true,
             .log_y = true}};
  }
  std::vector<lab::Expectation> expect(const Json& json, int set,
                                       std::int64_t draw) const override {
    const FusionPoint p(json);
    GraphTensors in;
    fill_graph_inputs(p, set, false, in);
    fill_graph_inputs(p, set, true, in);
    const auto sample =
        lab::sample_rows(p.rows(), static_cast<double>(p.width), kOracleElements, 8, draw);
    const auto of = [&](const char* name) {
      return in.contains(name) ? in.at(name).view() : in.at("a").view();
    };
    lab::Expectation e;
    e.output = "y";
    e.dtype = name_of(p.dtype);
    e.shape = {p.rows()};
    if (!p.is_summed()) e.shape.push_back(p.width);
    e.rows = sample.rows;
    e.sample_seed = sample.seed;
    e.values = plain_fusion(p.graph, of("a"), of("b"), of("w"), sample.rows);
    const auto tolerance = p.tolerance();
    e.rtol = tolerance.rtol;
    e.atol = tolerance.atol;
    e.oracle = "plain loops in f64";
    return {e};
  }

 private:
  static constexpr auto kGraphs = {"affine",    "chain", "gate",   "diamond",
                                   "chain_sum", "norm",  "softmax"};
  static Json point(const char* graph, std::int64_t n, const char* dtype) {
    return {{"graph", graph}, {"n", n}, {"width", kRowWidth}, {"dtype", dtype}, {"seed", 0}};
  }
};

}  // namespace

std::unique_ptr<lab::Case> graph_fusion_case() { return std::make_unique<FusionCase>(); }

}  // namespace assay::cases::llm
