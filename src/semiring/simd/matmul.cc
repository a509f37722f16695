// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The way of a matmul through this backend: each batch becomes three matrices of the working type
// (widened if they are f16 or bf16), the route of its algebra multiplies them, and the result is
// converted where the output is not what the route can write.
#include "semiring/simd/matmul.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "kernels/threads/crew.h"
#include "semiring/simd/euclidean_product.h"
#include "semiring/simd/log_product.h"
#include "semiring/simd/plain_products.h"
#include "tensor/convert.h"
#include "tensor/tensor.h"

namespace assay::semiring {
namespace {

using simd::Execution;
using simd::Extents;
using simd::Matrix;
using simd::Output;

// Threads wait for each other for some microseconds: a product of fewer pairs takes one thread, and
// a batch of such products is shared out product by product.
constexpr double kThreadedPairs = 128.0 * 128 * 128;

// Entries computed again.
template <typename T>
std::int64_t multiply(Algebra algebra, const Matrix<T>& a, const Matrix<T>& b, const Extents& e,
                      const Output<T>& c, const Execution& execution) {
  if constexpr (std::is_same_v<T, bool>) {
    simd::boolean_product(a, b, e, c, execution);
    return 0;
  } else {
    switch (algebra) {
      case Algebra::kReal:
        simd::real_product(a, b, e, c, execution);
        return 0;
      case Algebra::kMaxPlus:
        simd::max_plus_product(a, b, e, c, execution);
        return 0;
      case Algebra::kMinPlus:
        simd::min_plus_product(a, b, e, c, execution);
        return 0;
      case Algebra::kLog:
        return simd::log_product(a, b, e, c, execution);
      case Algebra::kEuclidean:
        return simd::euclidean_product(a, b, e, c, execution);
      case Algebra::kBoolean:
        break;
    }
    throw InternalError("a numeric algebra is one of five");
  }
}

// The offset of a batch in elements, its strides those of a view with `batch` in front.
std::int64_t batch_offset(std::span<const std::int64_t> strides, const Shape& batch,
                          std::int64_t index) {
  std::int64_t offset = 0;
  for (std::size_t axis = batch.rank(); axis-- > 0;) {
    offset += index % batch[axis] * strides[axis];
    index /= batch[axis];
  }
  return offset;
}

// All batches of a factor in the working type T: the factor itself, or a widened copy.
template <typename T>
class Factor {
 public:
  explicit Factor(const TensorView& view) : view_(view) {
    if (view.dtype() == kDTypeOf<T>) return;
    widened_.emplace(Tensor::converted(view, kDTypeOf<T>));
    view_ = widened_->view();
  }
  Matrix<T> of(const Shape& batch, std::int64_t index) const {
    const std::size_t rank = view_.rank();
    return {view_.data<T>() + batch_offset(view_.strides(), batch, index), view_.stride(rank - 2),
            view_.stride(rank - 1)};
  }

 private:
  TensorView view_;
  std::optional<Tensor> widened_;
};

template <typename T>
std::int64_t multiply_all(const MatmulProblem& p, const MutableTensorView& out,
                          const SimdOptions& options) {
  const Factor<T> a(p.a), b(p.b);
  const Extents e{p.m, p.k, p.n};
  const std::size_t rank = out.rank();
  const auto run = [&](std::int64_t batch, int threads) {
    T* c = out.data<T>() + batch_offset(out.strides(), p.batch, batch);
    return multiply<T>(p.algebra, a.of(p.batch, batch), b.of(p.batch, batch), e,
                       {c, out.stride(rank - 2)}, {options.caches, threads});
  };
  const int threads = std::max(1, options.threads);
  std::int64_t recomputed = 0;
  if (e.pairs() >= kThreadedPairs || threads == 1 || p.batches == 1) {
    const int each = e.pairs() >= kThreadedPairs ? threads : 1;
    for (std::int64_t batch = 0; batch < p.batches; ++batch) recomputed += run(batch, each);
    return recomputed;
  }
  const double pairs = e.pairs() * static_cast<double>(p.batches);
  std::atomic<std::int64_t> total = 0;
  kernels::share_items(pairs >= kThreadedPairs ? threads : 1, p.batches,
                       [&](std::int64_t batch) noexcept { total += run(batch, 1); });
  return total;
}

std::int64_t multiply_any(const MatmulProblem& p, const MutableTensorView& out,
                          const SimdOptions& options) {
  switch (out.dtype()) {
    case DType::kBool:
      return multiply_all<bool>(p, out, options);
    case DType::kF32:
      return multiply_all<float>(p, out, options);
    case DType::kF64:
      return multiply_all<double>(p, out, options);
    default:
      throw InternalError("the working dtype is bool, f32 or f64");
  }
}

// What ⊕ gives without terms.
void fill_with_zero_of(Algebra algebra, const MutableTensorView& out) {
  double zero = 0;
  if (algebra == Algebra::kLog || algebra == Algebra::kMaxPlus) zero = Log<double>::kAbsent;
  if (algebra == Algebra::kMinPlus) zero = MinPlus<double>::kAbsent;
  const TensorView one(DType::kF64, &zero, Shape{});
  convert_into(one.broadcast(out.shape()), out);
}

}  // namespace

MatmulStats simd_matmul(const MatmulProblem& problem, const MutableTensorView& out,
                        const SimdOptions& options) {
  MatmulStats stats;
  stats.entries = out.element_count();
  if (stats.entries == 0) return stats;
  if (problem.k == 0) {
    fill_with_zero_of(problem.algebra, out);
    return stats;
  }
  const DType working = working_dtype(problem.a.dtype());
  const std::size_t last = out.rank() - 1;
  if (out.dtype() == working && (out.stride(last) == 1 || out.extent(last) == 1)) {
    stats.recomputed = multiply_any(problem, out, options);
    return stats;
  }
  Tensor result(working, out.shape());
  stats.recomputed = multiply_any(problem, result.mutable_view(), options);
  convert_into(result.view(), out);
  return stats;
}

}  // namespace assay::semiring
