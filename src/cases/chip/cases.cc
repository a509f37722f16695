// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/cases.h"

#include <memory>

#include "base/error.h"
#include "cases/chip/certificates.h"
#include "cases/chip/events_case.h"
#include "cases/chip/figures.h"
#include "cases/chip/point.h"

namespace assay::cases::chip {
namespace {

namespace ch = assay::chip;
using lab::Origin;
using lab::Parameter;
using lab::Provider;
using lab::Skip;

const std::vector<std::string> kVariants = {"ref_ref", "load_ref", "load_load"};
const std::vector<std::string> kAlgorithms = {"ring",
                                              "halving_doubling",
                                              "double_binary_tree",
                                              "direct",
                                              "recursive_doubling",
                                              "bidirectional_ring",
                                              "bidirectional_torus"};
const std::vector<std::string> kNetworks = {"ring", "torus", "switch", "fully_connected"};

// What the three cases share: simulated time on the default chip. Answers differ by provider, so
// that all judging is in certify().
class ChipCase : public lab::Case {
 public:
  ChipCase(std::string name, std::string description, std::vector<Parameter> parameters)
      : name_(std::move(name)),
        description_(std::move(description)),
        schema_(with_seed(std::move(parameters))) {}

  std::string_view suite() const override { return "chip"; }
  std::string_view name() const override { return name_; }
  std::string_view description() const override { return description_; }
  const lab::PointSchema& schema() const override { return schema_; }
  std::string_view baseline() const override { return "simulated"; }
  const lab::Metric& primary_metric() const override { return lab::metric("simulated_time"); }
  std::uint64_t memory_estimate(const Json&, std::string_view) const override {
    return std::uint64_t{256} << 20;
  }
  Json identity() const override {
    return {{"topology", ch::default_topology().hash()},
            {"engine", std::string(ch::kEngineVersion)}};
  }
  std::vector<lab::Expectation> expect(const Json&, int, std::int64_t) const override { return {}; }

 private:
  static std::vector<Parameter> with_seed(std::vector<Parameter> parameters) {
    parameters.push_back({"seed", "of the data that travels", 0, 1 << 30, {}, ""});
    return parameters;
  }

  std::string name_, description_;
  lab::PointSchema schema_;
};

std::vector<Parameter> gemm_parameters(Parameter last) {
  return {{"m", "rows of A and C", 1, 1 << 14, {}, ""},
          {"k", "columns of A, rows of B", 1, 1 << 14, {}, ""},
          {"n", "columns of B and C", 1, 1 << 14, {}, ""},
          {"variant", "which operands are loaded up front", 0, 0, kVariants, ""},
          std::move(last)};
}

Json gemm_point(const ch::GemmShape& s, const std::string& variant) {
  return {{"m", s.m}, {"k", s.k}, {"n", s.n}, {"variant", variant}, {"seed", 0}};
}

// The product's arithmetic, and the bytes that its plan moves.
std::map<std::string, double> gemm_work(const Json& json) {
  const GemmPoint p(json);
  const auto plan = ch::plan_gemm(p.options, p.topology);
  return {{"flops", 2.0 * static_cast<double>(plan.useful_macs)},
          {"macs", static_cast<double>(plan.useful_macs)},
          {"bytes", static_cast<double>(plan.load_bytes + plan.stream_bytes + plan.write_bytes)}};
}

// A plan may not fit the chip: then no provider has anything to say.
std::optional<Skip> why_no_plan(const Json& json) {
  try {
    const GemmPoint p(json);
    ch::plan_gemm(p.options, p.topology);
    return std::nullopt;
  } catch (const UserError& e) {
    return Skip{"provider_not_applicable", e.what()};
  }
}

const Provider kSimulated = {.id = "simulated",
                             .description = "the event simulator of the chip engine",
                             .origin = Origin::kSimulated};
const Provider kClosedForm = {.id = "closed_form",
                              .description = "the tile pipeline as a formula",
                              .origin = Origin::kClosedForm};
const Provider kRoofline = {.id = "roofline",
                            .description = "padded arithmetic or bytes, whichever takes longer",
                            .unequal_work = "a bound: no schedule is shorter",
                            .origin = Origin::kClosedForm};

class GemmCase final : public ChipCase {
 public:
  GemmCase()
      : ChipCase("chip_gemm", "a matrix product on the tiled accelerator",
                 gemm_parameters({"pes", "processing elements, a square number", 1, 64, {}, ""})) {}

  std::vector<Json> representative_points() const override { return {point({512, 512, 512}, 1)}; }
  std::vector<Json> standard_points() const override {
    std::vector<Json> points;
    for (const ch::GemmShape shape : {ch::GemmShape{16, 16, 16},
                                      {32, 64, 32},
                                      {32, 3072, 32},
                                      {100, 130, 70},
                                      {128, 128, 128},
                                      {256, 256, 256},
                                      {512, 512, 512},
                                      {1024, 1024, 256}}) {
      for (const auto& variant : kVariants) {
        for (const int pes : {1, 4, 16}) points.push_back(point(shape, pes, variant));
      }
    }
    return points;
  }
  std::vector<Provider> providers() const override {
    return {kSimulated,
            kClosedForm,
            kRoofline,
            {.id = "systolic",
             .description = "the whole product on one systolic array, operands at hand",
             .unequal_work = "compute alone: no memory, no padding to tiles",
             .origin = Origin::kClosedForm}};
  }
  std::optional<Skip> why_not(const Json& json, std::string_view provider,
                              std::string_view) const override {
    if (provider == "systolic" && lab::point_int(json, "pes") != 1) {
      return Skip{"provider_not_applicable", "the formula is for one array"};
    }
    return why_no_plan(json);
  }
  std::map<std::string, double> work(const Json& json) const override { return gemm_work(json); }
  std::optional<lab::Certificate> certify(const Json& point, int, std::string_view provider,
                                          const std::string& file) const override {
    return certify_product(point, provider, file);
  }
  std::vector<lab::FigureRecipe> figures() const override { return gemm_figures(); }

 private:
  static Json point(const ch::GemmShape& shape, int pes, const std::string& variant = "load_ref") {
    Json p = gemm_point(shape, variant);
    p["pes"] = pes;
    return p;
  }
};

class BuffersCase final : public ChipCase {
 public:
  BuffersCase()
      : ChipCase("chip_buffers", "a matrix product with more or fewer operand buffers",
                 gemm_parameters({"depth", "operand buffers of an element", 1, 64, {}, ""})) {}

  std::vector<Json> representative_points() const override { return {point(4, "load_ref")}; }
  std::vector<Json> standard_points() const override {
    std::vector<Json> points;
    for (const auto& variant : kVariants) {
      for (int depth = 1; depth <= 8; ++depth) points.push_back(point(depth, variant));
    }
    return points;
  }
  std::vector<Provider> providers() const override { return {kSimulated, kClosedForm, kRoofline}; }
  std::optional<Skip> why_not(const Json& json, std::string_view, std::string_view) const override {
    return why_no_plan(json);
  }
  std::map<std::string, double> work(const Json& json) const override { return gemm_work(json); }
  std::optional<lab::Certificate> certify(const Json& point, int, std::string_view provider,
                                          const std::string& file) const override {
    return certify_product(point, provider, file);
  }
  std::vector<lab::FigureRecipe> figures() const override { return buffer_figures(); }

 private:
  static Json point(int depth, const std::string& variant) {
    Json p = gemm_point({512, 512, 512}, variant);
    p["depth"] = depth;
    return p;
  }
};

class AllReduceCase final : public ChipCase {
 public:
  AllReduceCase()
      : ChipCase("chip_allreduce", "the sum of a vector over chips, in every chip",
                 {{"bytes", "of the vector", 4, std::int64_t{1} << 32, {}, ""},
                  {"algorithm", "of the collective", 0, 0, kAlgorithms, ""},
                  {"network", "between the chips", 0, 0, kNetworks, ""},
                  {"ranks", "chips", 2, 64, {}, ""}}) {}

  std::vector<Json> representative_points() const override {
    return {point(1 << 20, "ring", "ring", 8)};
  }
  std::vector<Json> standard_points() const override {
    std::vector<Json> points;
    for (std::int64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 4) {
      for (const char* algorithm : {"ring", "halving_doubling", "double_binary_tree", "direct"}) {
        for (const auto& network : kNetworks) {
          for (const int ranks : {4, 8, 16}) {
            points.push_back(point(bytes, algorithm, network, ranks));
          }
        }
      }
      // Where they are at home.
      for (const int ranks : {4, 8, 16}) {
        points.push_back(point(bytes, "bidirectional_ring", "ring", ranks));
        points.push_back(point(bytes, "bidirectional_torus", "torus", ranks));
      }
    }
    return points;
  }
  std::vector<Provider> providers() const override {
    return {kSimulated,
            {.id = "alpha_beta",
             .description = "cost of the schedule: longest chain of messages, busiest link",
             .origin = Origin::kClosedForm},
            {.id = "bound",
             .description = "what no algorithm can beat on this network",
             .unequal_work = "a bound: no algorithm is faster",
             .origin = Origin::kClosedForm},
            {.id = "smpi",
             .description = "the same messages in SimGrid's simulator (SMPI, model CM02)",
             .unequal_work = "no endpoint delay",
             .origin = Origin::kSimulated}};
  }
  std::optional<Skip> why_not(const Json& json, std::string_view provider,
                              std::string_view) const override {
    try {
      const AllReducePoint p(json);
      if (provider == "smpi" && !is_replayed(p)) {
        return Skip{
            "provider_not_applicable",
            "replayed on rings of 8 up to 1 MiB only, one program a rank: each takes a process"};
      }
      ch::schedule_options(p.options, p.topology.network);
      return std::nullopt;
    } catch (const UserError& e) {
      return Skip{"provider_not_applicable", e.what()};
    }
  }
  std::map<std::string, double> work(const Json& json) const override {
    return {{"bytes", static_cast<double>(lab::point_int(json, "bytes"))}};
  }
  std::optional<lab::Certificate> certify(const Json& point, int set, std::string_view provider,
                                          const std::string& file) const override {
    return certify_all_reduce(point, set, provider, file);
  }
  std::vector<lab::FigureRecipe> figures() const override { return all_reduce_figures(); }

 private:
  static bool is_replayed(const AllReducePoint& p) {
    return p.topology.network.kind == ch::NetworkKind::kRing && p.topology.network.ranks == 8 &&
           p.options.bytes <= 1 << 20 && p.options.bytes % 8 == 0 &&
           p.options.algorithm != ch::Algorithm::kDoubleBinaryTree &&
           p.options.algorithm != ch::Algorithm::kBidirectionalRing;
  }
  static Json point(std::int64_t bytes, const std::string& algorithm, const std::string& network,
                    int ranks) {
    return {{"bytes", bytes},
            {"algorithm", algorithm},
            {"network", network},
            {"ranks", ranks},
            {"seed", 0}};
  }
};

}  // namespace

void add_cases(lab::CaseRegistry& cases) {
  cases.add(std::make_unique<GemmCase>());
  cases.add(std::make_unique<AllReduceCase>());
  cases.add(std::make_unique<BuffersCase>());
  cases.add(events_case());
}

}  // namespace assay::cases::chip
