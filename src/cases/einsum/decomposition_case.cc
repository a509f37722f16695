// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>

#include "cases/einsum/case_list.h"
#include "cases/einsum/decomposition_inputs.h"

namespace assay::cases::einsum {
namespace {

using lab::Provider;

// What both decompositions share. The output "x0" is the reconstruction at index 0 of the first
// mode.
class DecompositionCase : public lab::Case {
 public:
  std::string_view suite() const override { return "einsum"; }
  const lab::PointSchema& schema() const override {
    static const lab::PointSchema kSchema({{"n", "extent of each mode", 2, 1024, {}, ""},
                                           {"order", "number of modes", 2, 5, {}, ""},
                                           {"rank", "of the decomposition", 1, 256, {}, ""},
                                           {"sweeps", "of the iteration", 1, 1000, {}, ""},
                                           {"dtype", "of the tensor", 0, 0, {"f32", "f64"}, ""},
                                           {"seed", "of the tensor", 0, 1 << 30, {}, ""}});
    return kSchema;
  }
  std::optional<lab::Skip> why_not(const Json&, std::string_view, std::string_view) const override {
    return std::nullopt;
  }
  std::uint64_t memory_estimate(const Json& json, std::string_view) const override {
    const DecompositionPoint p(json);
    return static_cast<std::uint64_t>(12 * 8 * p.elements()) + (std::uint64_t{1} << 30);
  }
  std::string_view baseline() const override { return "assay"; }

 protected:
  static Json point(int n, int order, int rank, int sweeps) {
    return {{"n", n},           {"order", order}, {"rank", rank},
            {"sweeps", sweeps}, {"dtype", "f64"}, {"seed", 0}};
  }
  static std::vector<Provider> peers(const char* own, const char* tensorly) {
    return {{.id = "assay", .description = own, .library = "libopenblas.so.0"},
            {.id = "tensorly",
             .description = std::string(tensorly) + " over NumPy",
             .runtime = lab::Runtime::kPython,
             .modules = {"tensorly", "numpy"}},
            {.id = "tensorly-torch",
             .description = std::string(tensorly) + " over torch",
             .runtime = lab::Runtime::kPython,
             .modules = {"tensorly", "torch", "numpy"}}};
  }
  static std::vector<lab::Expectation> slice(const DecompositionPoint& p, const Tensor& x,
                                             double atol) {
    lab::Expectation e;
    e.output = "x0";
    e.dtype = name_of(p.dtype);
    e.shape.assign(static_cast<std::size_t>(p.order - 1), p.n);
    e.rows.resize(static_cast<std::size_t>(p.n));
    std::iota(e.rows.begin(), e.rows.end(), 0);
    const auto part = x.view().select(0, 0);
    for (std::int64_t i = 0; i < part.element_count(); ++i)
      e.values.push_back(value_as_double(part, i));
    e.rtol = 0;
    e.atol = atol;
    e.oracle = "the tensor itself: its decomposition is exact";
    return {e};
  }
};

class DecomposeCp : public DecompositionCase {
 public:
  std::string_view name() const override { return "decompose_cp"; }
  std::string_view description() const override {
    return "CP by alternating least squares, a fixed number of sweeps from a common start";
  }
  std::vector<Json> representative_points() const override { return {point(128, 3, 16, 10)}; }
  std::vector<Json> standard_points() const override {
    return {point(16, 3, 8, 20), point(128, 3, 16, 10), point(64, 4, 16, 5)};
  }
  std::vector<Provider> providers() const override {
    return peers(
        "this engine: dimension tree across sweeps, N/(N-1) products with the tensor a sweep",
        "tensorly parafac, normalize_factors off, tol=0: no errors are computed");
  }
  // The least that is known: N/(N−1) products with the whole tensor a sweep, the rest is small.
  std::map<std::string, double> work(const Json& json) const override {
    const DecompositionPoint p(json);
    const double products =
        static_cast<double>(p.sweeps * p.order) / static_cast<double>(p.order - 1);
    return {{"flops", 2 * products * p.elements() * static_cast<double>(p.rank)},
            {"bytes", products * p.elements() * static_cast<double>(size_of(p.dtype))}};
  }
  // The start is a tenth away from the answer; each sweep brings it closer, at a rate that depends
  // on the factors. Elements have size √rank: a hundredth of that is far below what no sweep
  // leaves.
  std::vector<lab::Expectation> expect(const Json& json, int set) const override {
    const DecompositionPoint p(json);
    return slice(p, cp_tensor(p, set), 0.02 * std::sqrt(static_cast<double>(p.rank)));
  }
};

class DecomposeTucker : public DecompositionCase {
 public:
  std::string_view name() const override { return "decompose_tucker"; }
  std::string_view description() const override {
    return "Tucker: truncated HOSVD, then HOOI sweeps";
  }
  std::vector<Json> representative_points() const override { return {point(128, 3, 16, 2)}; }
  std::vector<Json> standard_points() const override {
    return {point(16, 3, 4, 2), point(128, 3, 16, 2)};
  }
  std::vector<Provider> providers() const override {
    return peers("this engine: ST-HOSVD by Gram matrices, then HOOI", "tensorly tucker, tol=0");
  }
  std::map<std::string, double> work(const Json& json) const override {
    const DecompositionPoint p(json);
    return {{"flops", 2 * p.elements() * static_cast<double>(p.order * p.rank * (p.sweeps + 1))},
            {"bytes", p.elements() *
                          static_cast<double>(size_of(p.dtype) * static_cast<std::size_t>(p.order) *
                                              static_cast<std::size_t>(p.sweeps + 1))}};
  }
  // Projection onto the exact subspaces: they are found to √u by the Gram matrices, and the error
  // of a projection is that squared, times the condition of random factors and the elements' size.
  std::vector<lab::Expectation> expect(const Json& json, int set) const override {
    const DecompositionPoint p(json);
    const double size = std::pow(static_cast<double>(p.rank), 0.5 * static_cast<double>(p.order));
    return slice(p, tucker_tensor(p, set), (p.dtype == DType::kF32 ? 1e-3 : 1e-9) * size);
  }
};

}  // namespace

std::unique_ptr<lab::Case> decompose_cp_case() { return std::make_unique<DecomposeCp>(); }
std::unique_ptr<lab::Case> decompose_tucker_case() { return std::make_unique<DecomposeTucker>(); }

}  // namespace assay::cases::einsum
