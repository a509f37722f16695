// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// ⊗ is addition, ⊕ the larger or the smaller; compiled once per instruction set.
#if defined(ASSAY_SEMIRING_SIMD_COMPARE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_SEMIRING_SIMD_COMPARE_INL_H_
#undef ASSAY_SEMIRING_SIMD_COMPARE_INL_H_
#else
#define ASSAY_SEMIRING_SIMD_COMPARE_INL_H_
#endif

#include <limits>

#include "kernels/tiles/tile-inl.h"
#include "semiring/algebra.h"

HWY_BEFORE_NAMESPACE();
namespace assay::semiring::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace tiles = kernels::HWY_NAMESPACE;

struct Larger {
  static constexpr double kZero = -std::numeric_limits<double>::infinity();
  template <class V>
  static HWY_INLINE V of(V x, V y) {
    return hn::Max(x, y);
  }
  template <typename T>
  static T scalar(T x, T y) {
    return max_or_nan(x, y);
  }
};

struct Smaller {
  static constexpr double kZero = std::numeric_limits<double>::infinity();
  template <class V>
  static HWY_INLINE V of(V x, V y) {
    return hn::Min(x, y);
  }
  template <typename T>
  static T scalar(T x, T y) {
    return min_or_nan(x, y);
  }
};

// Highway leaves open what Max and Min make of a NaN, and x86 takes the second operand: `kCareful`
// puts NaN back, wherever it was.
template <class Choice, bool kCareful>
struct CompareOps {
  static constexpr tiles::TileShape kShape = tiles::kCompareShape;
  static constexpr bool kDirect = false;

  template <class D>
  static HWY_INLINE hn::Vec<D> zero(D d) {
    return hn::Set(d, static_cast<hn::TFromD<D>>(Choice::kZero));
  }
  template <class V>
  static HWY_INLINE V merge(V x, V y) {
    const V chosen = hn::IfThenElse(hn::IsNaN(x), x, Choice::of(x, y));
    return hn::IfThenElse(hn::IsNaN(y), y, chosen);
  }
  template <int kVectors, class V>
  static HWY_INLINE void reduce(V a, const V* b, V* acc) {
    V terms[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) terms[v] = hn::Add(a, b[v]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      acc[v] = kCareful ? merge(terms[v], acc[v]) : Choice::of(terms[v], acc[v]);
    }
  }
  template <typename T>
  static T merge_scalar(T x, T y) {
    return Choice::scalar(x, y);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace assay::semiring::simd
HWY_AFTER_NAMESPACE();
#endif
