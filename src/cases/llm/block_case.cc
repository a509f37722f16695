// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "base/error.h"
#include "cases/llm/block_answers.h"
#include "cases/llm/case_list.h"
#include "cases/llm/cases.h"
#include "cases/llm/graph_peers.h"
#include "lab/record/sample_rows.h"

namespace assay::cases::llm {
namespace {

constexpr double kOracleProducts = 1e9;  // a second of plain loops
constexpr double kReferenceProducts = 1e8;
constexpr double kSearchedProducts = 3e8;

class BlockCase : public lab::Case {
 public:
  std::string_view suite() const override { return kSuite; }
  std::string_view name() const override { return "graph_blocks"; }
  std::string_view description() const override {
    return "blocks of language models: gated products, attention, norms, experts, a whole layer";
  }
  const lab::PointSchema& schema() const override {
    static const lab::PointSchema kSchema(
        {{"block",
          "what is computed",
          0,
          0,
          {"norm_matmul", "mlp", "attention", "moe", "transformer"},
          ""},
         {"size", "of the model", 0, 0, {"tiny", "1b"}, ""},
         {"tokens", "new ones", 1, 4096, {}, ""},
         {"cached", "tokens before them, for attention", 0, 1 << 16, {}, ""},
         {"dtype", "of inputs and outputs", 0, 0, {"f32", "bf16", "f16"}, ""},
         {"seed", "of the inputs", 0, 1 << 30, {}, ""}});
    return kSchema;
  }
  // Only attention looks back.
  Json complete_point(const Json& given, const Json& defaults) const override {
    auto base = defaults;
    const auto block = given.is_object() ? given.value("block", Json()) : Json();
    const bool looks_back = block == "attention" || block == "transformer";
    if (block.is_string() && !looks_back) base["cached"] = 0;
    auto point = schema().complete(given, base);
    if (lab::point_int(point, "cached") > 0 && point["block"] != "attention" &&
        point["block"] != "transformer") {
      fail("point: block {} has no cached tokens, not {}", canonical_json(point["block"]),
           canonical_json(point["cached"]));
    }
    return point;
  }
  std::vector<Json> representative_points() const override {
    std::vector<Json> points;
    for (const char* block : kBlocks) points.push_back(point(block, "tiny", 16, "f32"));
    return points;
  }
  std::vector<Json> standard_points() const override {
    auto points = representative_points();
    for (const char* dtype : {"f32", "bf16"}) {
      for (const char* block : kBlocks) {
        for (const int tokens : {1, 128}) points.push_back(point(block, "1b", tokens, dtype));
      }
    }
    return points;
  }
  std::vector<Json> all_points() const override {
    auto points = standard_points();
    for (const char* block : kBlocks) {
      for (const char* dtype : {"bf16", "f16"}) points.push_back(point(block, "tiny", 16, dtype));
      for (const int tokens : {1, 128}) points.push_back(point(block, "1b", tokens, "f16"));
    }
    return points;
  }
  std::vector<lab::Provider> providers() const override { return graph_providers(); }
  std::string_view baseline() const override { return "torch"; }
  std::optional<lab::Skip> why_not(const Json& json, std::string_view provider,
                                   std::string_view) const override {
    const BlockPoint p(json);
    if (provider == "assay-reference" && p.multiply_adds() > kReferenceProducts)
      return lab::Skip{"provider_not_applicable", "node by node in f64 takes minutes"};
    if (provider == "assay-searched" && p.multiply_adds() > kSearchedProducts)
      return lab::Skip{"provider_not_applicable", "verifying a candidate takes minutes"};
    return why_no_graph(provider, p.dtype, true);
  }
  std::uint64_t memory_estimate(const Json& json, std::string_view provider) const override {
    const BlockPoint p(json);
    // Weights once as they are and once as a provider keeps them, the rest for both slots.
    double bytes = 3 * p.bytes() + 64e6;
    if (provider == "assay-reference") bytes += 64 * p.multiply_adds();
    // Several sets of inputs to verify with, and the reference's intermediate results in f32.
    if (provider == "assay-searched") bytes += 16 * p.bytes();
    return static_cast<std::uint64_t>(bytes) + graph_worker_bytes(provider);
  }
  std::map<std::string, double> work(const Json& json) const override {
    const BlockPoint p(json);
    return {{"flops", 2 * p.multiply_adds()}, {"bytes", p.moved_bytes()}};
  }
  std::optional<lab::Limit> limit(const Json& json, int cores,
                                  const lab::Ceilings& ceilings) const override {
    const BlockPoint p(json);
    return graph_limit(p.multiply_adds(), p.moved_bytes(), cores, ceilings);
  }
  std::vector<lab::FigureRecipe> figures() const override {
    return {{.name = "time",
             .title = "Blocks of language models, time of a call",
             .form = lab::FigureForm::kBars,
             .x = {"block"},
             .pages = {"size", "tokens", "dtype"},
             .log_y = true},
            {.name = "speedup",
             .title = "Blocks of language models, speed over eager PyTorch's",
             .form = lab::FigureForm::kBars,
             .x = {"block"},
             .y = "speedup",
             .pages = {"size", "tokens", "dtype"}}};
  }
  std::vector<lab::Expectation> expect(const Json& json, int set,
                                       std::int64_t draw) const override {
    const BlockPoint p(json);
    GraphTensors in;
    fill_graph_inputs(p, set, false, in);
    fill_graph_inputs(p, set, true, in);
    // Heads are cheap, tokens are not.
    const auto shape = p.output_shape();
    const double cost =
        p.block == "attention" ? 0 : p.multiply_adds() / static_cast<double>(p.tokens);
    const auto sample = lab::sample_rows(shape[0], cost, kOracleProducts, 4, draw);
    auto answer = block_answer(p, in, sample.rows);
    std::vector<lab::Expectation> all = {
        expectation(p, "y", shape, std::move(answer.y.values), p.tolerance())};
    all.back().rows = sample.rows;
    all.back().sample_seed = sample.seed;
    if (p.has_cache()) {
      const std::vector cache = {p.size.kv_heads, p.keys(), p.size.head_width};
      all.push_back(expectation(p, "k", cache, std::move(answer.k.values), p.cache_tolerance()));
      all.push_back(expectation(p, "v", cache, std::move(answer.v.values), p.cache_tolerance()));
    }
    return all;
  }

 private:
  static constexpr auto kBlocks = {"norm_matmul", "mlp", "attention", "moe", "transformer"};
  // A token at a time looks back at 511, a prompt at nothing.
  static Json point(std::string_view block, const char* size, int tokens, const char* dtype) {
    const bool looks_back = block == "attention" || block == "transformer";
    const int cached = !looks_back ? 0 : tokens == 1 ? 511 : tokens == 16 ? 5 : 0;
    return {{"block", block},   {"size", size},   {"tokens", tokens},
            {"cached", cached}, {"dtype", dtype}, {"seed", 0}};
  }
  static lab::Expectation expectation(const BlockPoint& p, const char* output,
                                      std::vector<std::int64_t> shape, std::vector<double> values,
                                      Tolerance tolerance) {
    lab::Expectation e;
    e.output = output;
    e.dtype = name_of(p.dtype);
    e.rows.resize(static_cast<std::size_t>(shape[0]));
    std::iota(e.rows.begin(), e.rows.end(), 0);
    e.shape = std::move(shape);
    e.values = std::move(values);
    e.rtol = tolerance.rtol;
    e.atol = tolerance.atol;
    e.rms = tolerance.rms;
    e.oracle =
        fmt::format("plain layers in f64; errors within {:.2g} in the root mean square", e.rms);
    return e;
  }
};

}  // namespace

std::unique_ptr<lab::Case> graph_blocks_case() { return std::make_unique<BlockCase>(); }

}  // namespace assay::cases::llm
