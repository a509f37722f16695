// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "cases/einsum/case_list.h"
#include "cases/einsum/contractions.h"
#include "einsum/einsum.h"

namespace assay::cases::einsum {
namespace {

using lab::Provider;
using lab::Skip;

constexpr double kReferenceTerms = 0x1p28;         // above, plain loops take minutes
constexpr std::uint64_t kWorkerBytes = 192 << 20;  // a worker with BLAS before it has inputs

// What einsum_pair and einsum_network share: only their tables differ.
class ContractionCase : public lab::Case {
 public:
  explicit ContractionCase(const std::vector<Contraction>& table)
      : table_(table), schema_(parameters(table)) {}

  std::string_view suite() const override { return "einsum"; }
  const lab::PointSchema& schema() const override { return schema_; }
  std::vector<Json> standard_points() const override {
    std::vector<Json> points;
    for (const auto& c : table_) points.push_back(point(c.name, "f32"));
    return points;
  }
  std::vector<Json> all_points() const override {
    auto points = standard_points();
    for (const auto& c : table_) points.push_back(point(c.name, "f64"));
    return points;
  }
  std::vector<Provider> providers() const override {
    return {
        {.id = "assay-blas",
         .description = "this engine: planned, lowered to OpenBLAS and loops",
         .library = "libopenblas.so.0"},
        {.id = "reference", .description = "plain loops over all labels, sums in f64"},
        {.id = "gemm-limit",
         .description = "OpenBLAS products of the same sizes on tensors that lie right: the limit",
         .library = "libopenblas.so.0",
         .unequal_work =
             "the steps' matrix products alone, on other data: no transposition, no planning; "
             "its output is computed by the engine after the timed part"},
        {.id = "numpy",
         .description = "numpy.einsum with optimize=True",
         .runtime = lab::Runtime::kPython,
         .modules = {"numpy"}},
        {.id = "opt_einsum",
         .description = "opt_einsum.contract over NumPy, path found before the timed calls",
         .runtime = lab::Runtime::kPython,
         .modules = {"opt_einsum", "numpy"}},
        {.id = "torch",
         .description = "torch.einsum on the processor",
         .runtime = lab::Runtime::kPython,
         .modules = {"torch", "numpy"}},
    };
  }
  std::string_view baseline() const override { return "assay-blas"; }
  std::optional<Skip> why_not(const Json& json, std::string_view provider,
                              std::string_view) const override {
    const ContractionPoint p(json, table_);
    if (provider == "reference" && p.product_of_extents > kReferenceTerms) {
      return Skip{"provider_not_applicable",
                  fmt::format("plain loops over {:.2g} terms take minutes", p.product_of_extents)};
    }
    if (provider == "gemm-limit" && p.shapes.size() != 2) {
      return Skip{"provider_not_applicable", "an equal-size product is defined for pairs only"};
    }
    return std::nullopt;
  }
  std::uint64_t memory_estimate(const Json& json, std::string_view) const override {
    const ContractionPoint p(json, table_);
    return static_cast<std::uint64_t>(8 * p.bytes) + (std::uint64_t{2} << 30) + kWorkerBytes;
  }
  std::map<std::string, double> work(const Json& json) const override {
    const ContractionPoint p(json, table_);
    return {{"flops", p.flop}, {"bytes", p.bytes}};
  }

  // The engine in f64 with another objective than the one that is measured: where plain loops are
  // affordable they are the oracle.
  std::vector<lab::Expectation> expect(const Json& json, int set) const override {
    const ContractionPoint p(json, table_);
    auto operands = make_operands(p);
    fill_operands(p, set, operands);
    std::vector<Tensor> wide;
    std::vector<TensorView> views;
    for (const auto& t : operands) wide.push_back(Tensor::converted(t.view(), DType::kF64));
    for (const auto& t : wide) views.push_back(t.view());
    const bool loops = p.product_of_extents <= kReferenceTerms / 16;
    assay::einsum::Engine engine(
        {.backend = loops ? assay::einsum::Backend::kReference : assay::einsum::Backend::kBlas});
    const auto answer = engine.einsum(p.contraction.expression, views,
                                      {.objective = assay::einsum::Objective::kMac});
    const auto values = answer.as<double>();
    lab::Expectation e;
    e.output = "c";
    e.dtype = name_of(p.dtype);
    for (const auto x : p.output.extents()) e.shape.push_back(x);
    e.rows.resize(p.output.rank() == 0 ? 1 : static_cast<std::size_t>(p.output[0]));
    std::iota(e.rows.begin(), e.rows.end(), 0);
    e.values.assign(values.begin(), values.end());
    // A sum of k products of unit-variance factors: partial sums grow like √j and each addition
    // rounds by u of it, 8·u·k in all (cases/semiring/tolerance.cc has the derivation). In a
    // network the errors of a step are multiplied by the later factors like the values are:
    // relative to the typical element √K of all summed labels together, K·u·8/√K·(steps).
    const double u = p.dtype == DType::kF32 ? 0x1p-24 : 0x1p-52;
    const double kept = static_cast<double>(std::max<std::int64_t>(1, p.output.element_count()));
    const double terms = p.product_of_extents / kept;
    const double steps = static_cast<double>(p.shapes.size() - 1);
    e.rtol = 8 * u * steps;
    e.atol =
        p.shapes.size() == 2 ? 8 * u * terms : 8 * u * steps * std::sqrt(terms) * longest_sum(p);
    e.oracle = loops ? "plain loops over all labels in f64" : "this engine in f64, another order";
    return {e};
  }

 protected:
  static Json point(const std::string& name, const char* dtype) {
    return {{"contraction", name}, {"dtype", dtype}, {"seed", 0}};
  }

 private:
  // √ of the longest sum of a single step is what that step's rounding adds to its own elements.
  static double longest_sum(const ContractionPoint& p) {
    std::vector<assay::einsum::OperandSpec> specs;
    for (const auto& shape : p.shapes)
      specs.push_back(assay::einsum::OperandSpec::dense(p.dtype, shape));
    const auto plan = assay::einsum::make_plan(
        assay::einsum::parse_notation(p.contraction.expression), specs, {}, {});
    double longest = 1;
    for (const auto& step : plan.steps) longest = std::max(longest, step.lowered.size.k);
    return std::sqrt(longest);
  }

  static std::vector<lab::Parameter> parameters(const std::vector<Contraction>& table) {
    std::vector<std::string> names;
    for (const auto& c : table) names.push_back(c.name);
    return {{"contraction", "which one", 0, 0, names, ""},
            {"dtype", "of operands and result", 0, 0, {"f32", "f64"}, ""},
            {"seed", "of the operands", 0, 1 << 30, {}, ""}};
  }

  const std::vector<Contraction>& table_;
  lab::PointSchema schema_;
};

class EinsumPair : public ContractionCase {
 public:
  EinsumPair() : ContractionCase(pair_contractions()) {}
  std::string_view name() const override { return "einsum_pair"; }
  std::string_view description() const override {
    return "two tensors: matrix products, batches, transposed results, contractions of chemistry";
  }
  std::vector<Json> representative_points() const override { return {point("matmul_1024", "f32")}; }
};

class EinsumNetwork : public ContractionCase {
 public:
  EinsumNetwork() : ContractionCase(network_contractions()) {}
  std::string_view name() const override { return "einsum_network"; }
  std::string_view description() const override {
    return "networks of three to sixteen tensors whose best orders are known";
  }
  std::vector<Json> representative_points() const override { return {point("attention", "f32")}; }
};

}  // namespace

std::unique_ptr<lab::Case> einsum_pair_case() { return std::make_unique<EinsumPair>(); }
std::unique_ptr<lab::Case> einsum_network_case() { return std::make_unique<EinsumNetwork>(); }

}  // namespace assay::cases::einsum
