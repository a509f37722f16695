// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <functional>
#include <optional>

#include "cases/semiring/case_list.h"
#include "cases/semiring/gemm_library.h"
#include "cases/semiring/matmul_inputs.h"
#include "cases/semiring/simd_setup.h"
#include "semiring/matmul.h"
#include "tensor/half.h"
#include "tensor/safetensors.h"

namespace assay::cases::semiring {
namespace {

using assay::semiring::Backend;

// Two slots of inputs, one output, and a function between them.
class MatmulWorkload : public lab::Workload {
 public:
  // Returns the share of the results that were computed again; nothing where nothing ever is.
  using Multiply = std::function<std::optional<double>(
      const MatmulPoint&, const TensorView& a, const TensorView& b, const MutableTensorView& c)>;

  MatmulWorkload(const Json& point, Multiply multiply,
                 std::map<std::string, std::string> versions = {})
      : point_(point),
        slots_{MatmulInputs(point_), MatmulInputs(point_)},
        c_(point_.dtype, Shape({point_.m, point_.n})),
        multiply_(std::move(multiply)),
        versions_(std::move(versions)) {}

  void load(int slot, int set) override {
    fill_inputs(point_, set, slots_[static_cast<std::size_t>(slot)]);
  }
  void call(int slot) override {
    const auto& inputs = slots_[static_cast<std::size_t>(slot)];
    recomputed_ = multiply_(point_, inputs.a.view(), inputs.b.view(), c_.mutable_view());
  }
  void poison_outputs() override { std::memset(c_.bytes().data(), 0xFF, c_.bytes().size()); }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"c", c_.view()}});
  }
  std::map<std::string, double> metrics() const override {
    if (!recomputed_) return {};
    return {{"recomputed_share", *recomputed_}};
  }
  std::map<std::string, std::string> versions() const override { return versions_; }

 private:
  MatmulPoint point_;
  std::array<MatmulInputs, 2> slots_;
  Tensor c_;
  Multiply multiply_;
  std::map<std::string, std::string> versions_;
  std::optional<double> recomputed_;
};

// The engine's plain backends.
lab::WorkloadRegistry::Factory plain_matmul(Backend backend) {
  return [backend](const Json& point, int) {
    return std::make_unique<MatmulWorkload>(
        point, [backend](const MatmulPoint& p, const TensorView& a, const TensorView& b,
                         const MutableTensorView& c) {
          assay::semiring::matmul(p.algebra, a, b, c, {.backend = backend});
          return std::nullopt;
        });
  };
}

std::unique_ptr<lab::Workload> simd_matmul(const Json& point, int cores) {
  const assay::semiring::MatmulOptions options = {.backend = Backend::kSimd,
                                                  .simd = simd_options(cores)};
  return std::make_unique<MatmulWorkload>(
      point,
      [options](const MatmulPoint& p, const TensorView& a, const TensorView& b,
                const MutableTensorView& c) -> std::optional<double> {
        const auto stats = assay::semiring::matmul(p.algebra, a, b, c, options);
        const bool certified = p.algebra == Algebra::kLog || p.algebra == Algebra::kEuclidean;
        return certified ? std::optional(stats.recomputed_share()) : std::nullopt;
      },
      simd_versions());
}

// A BLAS of others, with as many threads as there are cores.
template <GemmLibrary (*kLoad)(int)>
std::unique_ptr<lab::Workload> blas(const Json& point, int cores) {
  const GemmLibrary library = kLoad(cores);
  return std::make_unique<MatmulWorkload>(
      point,
      [library](const MatmulPoint&, const TensorView& a, const TensorView& b,
                const MutableTensorView& c) {
        library.gemm(a, b, c);
        return std::nullopt;
      },
      library.versions());
}

// Rounds the sum to bf16 after every addition: wrong by design.
template <typename T>
void bf16_accumulate(const MatmulPoint& p, const TensorView& a, const TensorView& b,
                     const MutableTensorView& c) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) {
        sum = static_cast<float>(
            BFloat16(sum + static_cast<float>(a.at<T>(i, k)) * static_cast<float>(b.at<T>(k, j))));
      }
      c.at<T>(i, j) = static_cast<T>(sum);
    }
  }
}

std::unique_ptr<lab::Workload> refused(const Json& point, int) {
  return std::make_unique<MatmulWorkload>(
      point, [](const MatmulPoint& p, const TensorView& a, const TensorView& b,
                const MutableTensorView& c) {
        p.dtype == DType::kF32 ? bf16_accumulate<float>(p, a, b, c)
                               : bf16_accumulate<double>(p, a, b, c);
        return std::nullopt;
      });
}

}  // namespace

void add_matmul_workloads(lab::WorkloadRegistry& w) {
  for (const char* name : {"semiring_matmul", "dense_matmul"}) {
    w.add(name, "reference", plain_matmul(Backend::kReference));
    w.add(name, "naive", plain_matmul(Backend::kNaive));
    w.add(name, "assay-simd", simd_matmul);
    w.add(name, "openblas", blas<GemmLibrary::openblas>);
    w.add(name, "blis", blas<GemmLibrary::blis>);
  }
  w.add("dense_matmul", "bf16-accumulate", refused);
}

}  // namespace assay::cases::semiring
