// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// log and euclidean entries term by term: a vector of columns for several rows at once. Compiled
// once per instruction set.
#if defined(ASSAY_SEMIRING_SIMD_EXACT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_SEMIRING_SIMD_EXACT_INL_H_
#undef ASSAY_SEMIRING_SIMD_EXACT_INL_H_
#else
#define ASSAY_SEMIRING_SIMD_EXACT_INL_H_
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>

#include "kernels/math/exp_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::semiring::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using kernels::HWY_NAMESPACE::exp_nonpositive;
using kernels::HWY_NAMESPACE::log_split;

template <class D>
HWY_INLINE hn::Mask<D> no_lanes(D d) {
  return hn::MaskFromVec(hn::Zero(d));
}

// x + y = sum + error, exactly, unless something overflows.
template <class V>
HWY_INLINE V two_sum(V x, V y, V& error) {
  const V sum = hn::Add(x, y);
  const V back = hn::Sub(sum, x);
  error = hn::Add(hn::Sub(x, hn::Sub(sum, back)), hn::Sub(y, back));
  return sum;
}

// log Σ exp in its online form, a block of terms at a time: the block's maximum first, and only
// where it can still matter the exponentials.
template <class D>
struct LogState {
  using V = hn::Vec<D>;
  V max, sum;
  hn::Mask<D> has_nan;

  // Leaves everything to clear(). The implicit one will not do: where vectors have constructors
  // (NEON), GCC makes it outside this instruction set's pragma and cannot inline theirs.
  HWY_INLINE LogState() {}
  HWY_INLINE void clear(D d) {
    max = hn::Set(d, -std::numeric_limits<hn::TFromD<D>>::infinity());
    sum = hn::Zero(d);
    has_nan = no_lanes(d);
  }
  // Whether terms up to `largest` can change the result by more than a quarter of a rounding.
  HWY_INLINE bool matters(D d, V largest, V cutoff) const {
    return !hn::AllTrue(d, hn::Lt(largest, hn::Sub(max, cutoff)));
  }
  // Makes `largest` the reference if it is larger; returns what is to be subtracted from terms.
  HWY_INLINE V raise(D d, V largest) {
    const V raised = hn::Max(largest, max);
    const V scale = exp_nonpositive(d, hn::Sub(max, raised), hn::Zero(d));
    // Equality first: ∞ − ∞ is NaN.
    sum = hn::IfThenElse(hn::Eq(max, raised), sum, hn::Mul(sum, scale));
    max = raised;
    return hn::IfThenElseZero(hn::IsFinite(raised), raised);
  }
  HWY_INLINE V finish(D d) const {
    V whole, error;
    const V rest = log_split(d, sum, whole);
    const V high = two_sum(max, whole, error);
    V result = hn::Add(high, hn::Add(error, rest));
    result = hn::IfThenElse(hn::IsInf(max), max, result);
    const V nan = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::quiet_NaN());
    return hn::IfThenElse(has_nan, nan, result);
  }
};

template <typename T, int kRows>
void exact_log(std::int64_t terms, std::int64_t block, const T* const* rows,
               const T* HWY_RESTRICT b, std::int64_t stride, T* HWY_RESTRICT out) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<hn::ScalableTag<T>>;
  const std::size_t lanes = hn::Lanes(d);
  // log(terms · 2 / u), and one more: together, terms this far below the largest stay under u/4.
  const V cutoff = hn::Set(
      d, static_cast<T>(
             std::log(static_cast<double>(terms) * 4 / std::numeric_limits<T>::epsilon()) + 1));
  LogState<hn::ScalableTag<T>> state[kRows];
  for (int r = 0; r < kRows; ++r) state[r].clear(d);
  for (std::int64_t begin = 0; begin < terms; begin += block) {
    const std::int64_t end = std::min(terms, begin + block);
    V largest[kRows];
    for (int r = 0; r < kRows; ++r) {
      largest[r] = hn::Set(d, -std::numeric_limits<T>::infinity());
    }
    for (std::int64_t l = begin; l < end; ++l) {
      const V right = hn::LoadU(d, b + l * stride);
      for (int r = 0; r < kRows; ++r) {
        const V term = hn::Add(hn::Set(d, rows[r][l]), right);
        largest[r] = hn::Max(term, largest[r]);
        state[r].has_nan = hn::Or(state[r].has_nan, hn::IsNaN(term));
      }
    }
    for (int r = 0; r < kRows; ++r) {
      if (!state[r].matters(d, largest[r], cutoff)) continue;
      const V shift = state[r].raise(d, largest[r]);
      V sum = hn::Zero(d);
      for (std::int64_t l = begin; l < end; ++l) {
        const V term = hn::Add(hn::Set(d, rows[r][l]), hn::LoadU(d, b + l * stride));
        sum = hn::Add(sum, exp_nonpositive(d, hn::Sub(term, shift), hn::Zero(d)));
      }
      state[r].sum = hn::Add(state[r].sum, sum);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    hn::StoreU(state[r].finish(d), d, out + static_cast<std::size_t>(r) * lanes);
  }
}

// Σ (a − b)², the sums of blocks added up one after the other.
template <typename T, int kRows>
void exact_squares(std::int64_t terms, std::int64_t block, const T* const* rows,
                   const T* HWY_RESTRICT b, std::int64_t stride, T* HWY_RESTRICT out) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<hn::ScalableTag<T>>;
  const std::size_t lanes = hn::Lanes(d);
  V total[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) total[r] = hn::Zero(d);
  for (std::int64_t begin = 0; begin < terms; begin += block) {
    const std::int64_t end = std::min(terms, begin + block);
    V sum[kRows];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) sum[r] = hn::Zero(d);
    for (std::int64_t l = begin; l < end; ++l) {
      // The rows of b may be pages apart, where no hardware prefetcher follows.
      hwy::Prefetch(b + std::min(l + 24, terms - 1) * stride);
      const V right = hn::LoadU(d, b + l * stride);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const V difference = hn::Sub(hn::Set(d, rows[r][l]), right);
        sum[r] = hn::MulAdd(difference, difference, sum[r]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) total[r] = hn::Add(total[r], sum[r]);
  }
  for (int r = 0; r < kRows; ++r) {
    hn::StoreU(total[r], d, out + static_cast<std::size_t>(r) * lanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::semiring::simd
HWY_AFTER_NAMESPACE();
#endif
