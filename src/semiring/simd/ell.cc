// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/ell.h"

#include <optional>

#include "semiring/simd/edge_aggregate.h"
#include "semiring/simd/edge_lists.h"
#include "tensor/convert.h"
#include "tensor/tensor.h"

namespace assay::semiring {
namespace {

// Below this many products of an edge and a feature threads cost more than they bring.
constexpr double kThreadedTerms = 1 << 18;

int threads_for(const EllProblem& p, std::int64_t width, const SimdOptions& options) {
  const double terms =
      static_cast<double>(p.rows) * static_cast<double>(p.slots) * static_cast<double>(width);
  return terms < kThreadedTerms ? 1 : std::max(1, options.threads);
}

// A view as it is, or as a row-major copy of the wanted dtype where it is not that already.
class Prepared {
 public:
  // `needs_rows`: the last axis must be contiguous.
  Prepared(const TensorView& view, DType dtype, bool needs_rows) : view_(view) {
    const std::size_t last = view.rank() - 1;
    if (view.dtype() == dtype &&
        (!needs_rows || view.stride(last) == 1 || view.extent(last) <= 1)) {
      return;
    }
    copy_.emplace(Tensor::converted(view, dtype));
    view_ = copy_->view();
  }
  const TensorView& view() const { return view_; }

 private:
  TensorView view_;
  std::optional<Tensor> copy_;
};

// Calls f with a view that rows of the working dtype can be written to, and puts what was written
// where it belongs; returns what f returns.
template <typename F>
bool with_rows(const MutableTensorView& out, DType working, const F& f) {
  if (out.dtype() == working && (out.stride(1) == 1 || out.extent(1) == 1)) return f(out);
  Tensor result(working, out.shape());
  if (!f(result.mutable_view())) return false;
  convert_into(result.view(), out);
  return true;
}

// bool is reduced as bytes.
template <typename Stored>
using Kernel = std::conditional_t<std::is_same_v<Stored, bool>, std::uint8_t, Stored>;

template <typename Stored>
simd::EdgeReduction<Kernel<Stored>> reduction_of(Algebra algebra) {
  if constexpr (std::is_same_v<Stored, bool>) {
    return simd::boolean_ell_kernel();
  } else {
    const auto& kernels = simd::ell_kernels(Stored{});
    switch (algebra) {
      case Algebra::kReal:
        return kernels.real;
      case Algebra::kLog:
        return kernels.log;
      case Algebra::kMaxPlus:
        return kernels.max_plus;
      case Algebra::kMinPlus:
        return kernels.min_plus;
      case Algebra::kEuclidean:
        return kernels.euclidean;
      case Algebra::kBoolean:
        break;
    }
    throw InternalError("a numeric algebra is one of five");
  }
}

template <typename Stored>
bool reduce_slots(Algebra algebra, const EllProblem& p, const MutableTensorView& out, int threads) {
  using T = Kernel<Stored>;
  const Prepared v(p.v, kDTypeOf<Stored>, false), x(p.x, kDTypeOf<Stored>, true);
  const simd::Slots<Stored> slots(v.view(), p.idx);
  const auto* rows_of_x = reinterpret_cast<const T*>(x.view().data<Stored>());
  const simd::FeatureRows<T> features{rows_of_x, x.view().stride(0), p.features};
  auto* target = reinterpret_cast<T*>(out.data<Stored>());
  return simd::for_each_block<T>(
      slots, p.sources, threads,
      [&, reduce = reduction_of<Stored>(algebra)](const simd::EdgeBlock<T>& edges,
                                                  std::int64_t first, int) noexcept {
        reduce(edges, features, target + first * out.stride(0), out.stride(0));
      });
}

}  // namespace

bool simd_ell_matmul(Algebra algebra, const EllProblem& problem, const MutableTensorView& out,
                     const SimdOptions& options) {
  if (out.element_count() == 0) return false;
  const DType working = working_dtype(problem.x.dtype());
  const int threads = threads_for(problem, problem.features, options);
  return with_rows(out, working, [&](const MutableTensorView& rows) {
    switch (working) {
      case DType::kBool:
        return reduce_slots<bool>(algebra, problem, rows, threads);
      case DType::kF32:
        return reduce_slots<float>(algebra, problem, rows, threads);
      case DType::kF64:
        return reduce_slots<double>(algebra, problem, rows, threads);
      default:
        throw InternalError("the working dtype is bool, f32 or f64");
    }
  });
}

bool simd_ell_edge_aggregate(const EdgeProblem& problem, const MutableTensorView& out,
                             const SimdOptions& options) {
  if (out.element_count() == 0) return false;
  const DType working = working_dtype(problem.w.dtype());
  const int threads = threads_for(problem.ell, problem.outputs, options);
  const Prepared v(problem.ell.v, working, false), x(problem.ell.x, working, true);
  const Prepared w(problem.w, working, false);
  return with_rows(out, working, [&](const MutableTensorView& rows) {
    const auto aggregate =
        working == DType::kF32 ? simd::aggregate_edges<float> : simd::aggregate_edges<double>;
    return aggregate(problem.reduce, v.view(), problem.ell.idx, x.view(), w.view(), rows, threads);
  });
}

}  // namespace assay::semiring
