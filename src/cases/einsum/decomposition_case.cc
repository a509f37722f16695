// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/error.h"
#include "cases/einsum/case_list.h"
#include "cases/einsum/decomposition_inputs.h"
#include "tensor/safetensors.h"

namespace assay::cases::einsum {
namespace {

using lab::Provider;

constexpr double kUnitsOfASquare = 16;

// From where on the iteration has left its start behind, so that the error of the exact factors can
// be asked of it: drawn factors of this many rows are well apart, and the distance falls by half or
// more a sweep.
constexpr std::int64_t kConvergedSweeps = 5, kRowsWellApart = 8;

// Σ |λ_r λ_s ⟨a_r,a_s⟩⟨b_r,b_s⟩…|, the terms of ‖X̂‖² of a CP model: far above it where components
// cancel. 0 for a core: its factors are orthonormal, and nothing cancels.
double size_of_terms(const std::vector<Tensor>& factors, const Tensor& weights) {
  if (weights.shape().rank() != 1) return 0;
  const std::int64_t rank = weights.element_count();
  double sum = 0;
  for (std::int64_t r = 0; r < rank; ++r) {
    for (std::int64_t s = 0; s < rank; ++s) {
      double term = value_as_double(weights.view(), r) * value_as_double(weights.view(), s);
      for (const auto& f : factors) {
        double inner = 0;
        for (std::int64_t i = 0; i < f.shape()[0]; ++i) {
          inner +=
              value_as_double(f.view(), i * rank + r) * value_as_double(f.view(), i * rank + s);
        }
        term *= inner;
      }
      sum += std::abs(term);
    }
  }
  return sum;
}

// What both decompositions share. Outputs are the factors "u0", "u1", …, the weights or the core,
// and the relative error as the provider reports it.
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
  static std::vector<Provider> peers(const char* own, const char* tensorly, const char* torch) {
    return {{.id = "assay",
             .description = std::string(own) + "; on a GPU the products with the tensor",
             .platforms = {"cpu", "cuda"},
             .library = "libopenblas.so.0"},
            {.id = "tensorly",
             .description = std::string(tensorly) + " over NumPy",
             .runtime = lab::Runtime::kPython,
             .modules = {"tensorly", "numpy"}},
            {.id = "tensorly-torch",
             .description = std::string(tensorly) + " over torch",
             .runtime = lab::Runtime::kPython,
             .modules = {"tensorly", "torch", "numpy"}},
            {.id = "torch",
             .description = std::string(torch) + " in torch on a GPU",
             .runtime = lab::Runtime::kPython,
             .platforms = {"cuda"},
             .modules = {"torch", "numpy"}}};
  }
  // Another decomposition of the tensor, and how many times its error a right one may have.
  struct Rival {
    const char* name;
    PlainTensor model;
    double slack;
  };
  // Whatever the factors are, what they stand for must be as close to the tensor as the rival's;
  // and the error that was reported must be the true one.
  lab::Certificate certify_factors(const Json& json, const std::string& file, const char* core,
                                   const Tensor& x, const Rival& rival) const {
    const DecompositionPoint p(json);
    lab::Certificate certificate;
    certificate.oracle =
        fmt::format("rebuilt from the factors by plain loops, against {}", rival.name);
    certificate.checked = x.element_count();
    const SafetensorsFile outputs(file);
    const Shape ranks =
        std::string_view(core) == "core"
            ? Shape(std::vector<std::int64_t>(static_cast<std::size_t>(p.order), p.rank))
            : Shape({p.rank});
    std::map<std::string, Shape> wanted = {{core, ranks}, {"error", Shape({1})}};
    for (std::int64_t m = 0; m < p.order; ++m) {
      wanted.emplace(fmt::format("u{}", m), Shape({p.n, p.rank}));
    }
    for (const auto& [name, shape] : wanted) {
      if (!outputs.contains(name) || !(outputs.view(name).shape() == shape)) {
        certificate.wrong =
            fmt::format("there is no output '{}' of shape {}", name, shape.to_string());
        return certificate;
      }
    }
    std::vector<Tensor> factors;
    for (std::int64_t m = 0; m < p.order; ++m) {
      factors.push_back(Tensor::copy(outputs.view(fmt::format("u{}", m))));
    }
    const auto weights = Tensor::copy(outputs.view(core));
    const auto rebuilt = rebuild(factors, weights);
    double error = 0, other = 0, size = 0;
    for (std::int64_t i = 0; i < x.element_count(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double value = value_as_double(x.view(), i);
      error += (value - rebuilt.values[at]) * (value - rebuilt.values[at]);
      other += (value - rival.model.values[at]) * (value - rival.model.values[at]);
      size += value * value;
    }
    error = std::sqrt(error / size);
    other = std::sqrt(other / size);
    const double reported = value_as_double(outputs.view("error"), 0);
    // A provider may compute the square of the error as what is left of ‖X‖² + ‖X̂‖² − 2⟨X, X̂⟩,
    // sums that round by some units of the terms' size.
    const double u = p.dtype == DType::kF32 ? 0x1p-24 : 0x1p-53;
    const double rounding =
        kUnitsOfASquare * u * std::max(1.0, size_of_terms(factors, weights) / size);
    if (!(error * error <= rival.slack * rival.slack * other * other + rounding)) {
      certificate.wrong = fmt::format("the relative error of the factors is {}; {} have {}", error,
                                      rival.name, other);
    } else if (!(std::abs(reported * reported - error * error) <=
                 2e-3 * error * error + rounding)) {
      certificate.wrong =
          fmt::format("the relative error is {}, but {} was reported", error, reported);
    }
    return certificate;
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
        "tensorly parafac, normalize_factors off, tol=0: no errors are computed",
        "the same sweeps, each mode by einsum of the tensor and all other factors, no errors,");
  }
  // The least that is known: N/(N−1) products with the whole tensor a sweep, the rest is small.
  std::map<std::string, double> work(const Json& json) const override {
    const DecompositionPoint p(json);
    const double products =
        static_cast<double>(p.sweeps * p.order) / static_cast<double>(p.order - 1);
    return {{"flops", 2 * products * p.elements() * static_cast<double>(p.rank)},
            {"bytes", products * p.elements() * static_cast<double>(size_of(p.dtype))}};
  }
  // The start is a tenth away from the answer, and each sweep brings it closer; what is left of
  // that after some sweeps is small beside the noise. Before, or where factors are hardly told
  // apart, only this holds: no update of a factor moves away from the tensor.
  std::vector<lab::Expectation> expect(const Json&, int, std::int64_t) const override { return {}; }
  std::optional<lab::Certificate> certify(const Json& json, int set, std::string_view,
                                          const std::string& file) const override {
    const DecompositionPoint p(json);
    const bool converged = p.sweeps >= kConvergedSweeps && p.n >= kRowsWellApart && p.rank <= p.n;
    const auto rival = converged ? Rival{"exact ones", exact_cp(p, set), 1.5}
                                 : Rival{"those of the start", start_cp(p, set), 1};
    return certify_factors(json, file, "weights", cp_tensor(p, set), rival);
  }
};

class DecomposeTucker : public DecompositionCase {
 public:
  std::string_view name() const override { return "decompose_tucker"; }
  std::string_view description() const override {
    return "Tucker: truncated HOSVD, then HOOI sweeps";
  }
  Json complete_point(const Json& given, const Json& defaults) const override {
    Json point = DecompositionCase::complete_point(given, defaults);
    const DecompositionPoint p(point);
    if (p.rank > p.n) {
      fail("point: 'rank' must be at most 'n', which is {}, got {}", p.n, p.rank);
    }
    return point;
  }
  std::vector<Json> representative_points() const override { return {point(128, 3, 16, 2)}; }
  std::vector<Json> standard_points() const override {
    return {point(16, 3, 4, 2), point(128, 3, 16, 2)};
  }
  std::vector<Provider> providers() const override {
    auto all = peers("this engine: ST-HOSVD by Gram matrices, then HOOI", "tensorly tucker, tol=0",
                     "truncated HOSVD by eigh of Gram matrices, then HOOI likewise,");
    all[0].unequal_work =
        "on the CPU runs on one core, whatever the run has: Tucker has no threads here";
    return all;
  }
  std::map<std::string, double> work(const Json& json) const override {
    const DecompositionPoint p(json);
    return {{"flops", 2 * p.elements() * static_cast<double>(p.order * p.rank * (p.sweeps + 1))},
            {"bytes", p.elements() *
                          static_cast<double>(size_of(p.dtype) * static_cast<std::size_t>(p.order) *
                                              static_cast<std::size_t>(p.sweeps + 1))}};
  }
  // The best subspaces leave no more than the exact ones do, and HOOI finds them to second order of
  // the noise.
  std::vector<lab::Expectation> expect(const Json&, int, std::int64_t) const override { return {}; }
  std::optional<lab::Certificate> certify(const Json& json, int set, std::string_view,
                                          const std::string& file) const override {
    const DecompositionPoint p(json);
    return certify_factors(json, file, "core", tucker_tensor(p, set),
                           {"exact ones", exact_tucker(p, set), 1.02});
  }
};

}  // namespace

std::unique_ptr<lab::Case> decompose_cp_case() { return std::make_unique<DecomposeCp>(); }
std::unique_ptr<lab::Case> decompose_tucker_case() { return std::make_unique<DecomposeTucker>(); }

}  // namespace assay::cases::einsum
