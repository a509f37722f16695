// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A few rows times a matrix [k, n], whose columns lie together: terms are added onto sums of all
// columns. Compiled once per instruction set (gemv_kernels.cc).
#if defined(ASSAY_COMPILER_GEMV_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_COMPILER_GEMV_SUMS_INL_H_
#undef ASSAY_COMPILER_GEMV_SUMS_INL_H_
#else
#define ASSAY_COMPILER_GEMV_SUMS_INL_H_
#endif

#include <hwy/cache_control.h>

#include <algorithm>

#include "compiler/cpu/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::compiler {
namespace HWY_NAMESPACE {
namespace {

using D32 = hn::ScalableTag<float>;
using V32 = hn::Vec<D32>;
constexpr std::int64_t kWide = static_cast<std::int64_t>(hn::MaxLanes(D32()));
// Registers for sums.
constexpr int kSumVectors = HWY_TARGET == HWY_NEON || HWY_MAX_BYTES >= 64 ? 16 : 8;

// Four terms at a time onto sums that stay in the nearest cache.
template <typename T, int kRows, int kTerms>
HWY_INLINE void add_terms(const float* a, std::int64_t a_stride, const T* b, std::int64_t b_stride,
                          std::int64_t columns, float* c, std::int64_t c_stride) {
  const D32 d;
  std::int64_t j = 0;
  V32 factors[kRows][kTerms];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int t = 0; t < kTerms; ++t) factors[i][t] = hn::Set(d, a[i * a_stride + t]);
  }
  const auto step = [&](std::int64_t at) HWY_ATTR __attribute__((always_inline)) {
    V32 w[kTerms];
#pragma GCC unroll 4
    for (int t = 0; t < kTerms; ++t) w[t] = load_elements(d, b + t * b_stride + at);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      V32 sum = hn::LoadU(d, c + i * c_stride + at);
#pragma GCC unroll 4
      for (int t = 0; t < kTerms; ++t) sum = hn::MulAdd(factors[i][t], w[t], sum);
      hn::StoreU(sum, d, c + i * c_stride + at);
    }
  };
  // Lines of the next terms are asked for meanwhile: they are too far apart to be foreseen.
  constexpr std::int64_t kSteps = kRows == 1 ? 4 : 1;
  for (; j + kSteps * kWide <= columns; j += kSteps * kWide) {
#pragma GCC unroll 4
    for (int t = 0; t < kTerms; ++t) {
#pragma GCC unroll 8
      for (std::int64_t e = 0; e < kSteps * kWide; e += 64 / std::int64_t{sizeof(T)})
        hwy::Prefetch(b + (t + kTerms) * b_stride + j + e);
    }
#pragma GCC unroll 4
    for (std::int64_t u = 0; u < kSteps; ++u) step(j + u * kWide);
  }
  for (; j + kWide <= columns; j += kWide) step(j);
  for (; j < columns; ++j) {
    for (int i = 0; i < kRows; ++i) {
      for (int t = 0; t < kTerms; ++t)
        c[i * c_stride + j] += a[i * a_stride + t] * static_cast<float>(b[t * b_stride + j]);
    }
  }
}

// Several rows times some vectors of columns, sums in registers. The same columns of the next
// terms are asked for meanwhile.
template <typename T, int kRows, int kVectors>
HWY_INLINE void add_strip(const float* a, std::int64_t a_stride, const T* b, std::int64_t b_stride,
                          std::int64_t terms, float* c, std::int64_t c_stride) {
  const D32 d;
  V32 sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::Zero(d);
  }
  for (std::int64_t l = 0; l < terms; ++l) {
    const T* row = b + l * b_stride;
    V32 w[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) w[v] = load_elements(d, row + v * kWide);
#pragma GCC unroll 8
    for (std::int64_t e = 0; e < kVectors * kWide; e += 64 / std::int64_t{sizeof(T)})
      __builtin_prefetch(row + terms * b_stride + e, 0, 2);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const V32 x = hn::Set(d, a[i * a_stride + l]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(x, w[v], sums[i][v]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      float* to = c + i * c_stride + v * kWide;
      hn::StoreU(hn::Add(hn::LoadU(d, to), sums[i][v]), d, to);
    }
  }
}

// Rows whose sums no cache near enough holds: some terms of all columns at a time.
template <typename T, int kRows>
void strips_of(const float* a, std::int64_t a_stride, const T* b, std::int64_t b_stride,
               std::int64_t terms, std::int64_t columns, float* c, std::int64_t c_stride) {
  constexpr int kVectors = std::clamp(kSumVectors / kRows, 1, 4);
  constexpr std::int64_t kTerms = 16;
  for (std::int64_t l = 0; l < terms; l += kTerms) {
    const std::int64_t some = std::min(kTerms, terms - l);
    const float* x = a + l;
    const T* w = b + l * b_stride;
    std::int64_t j = 0;
    for (; j + kVectors * kWide <= columns; j += kVectors * kWide)
      add_strip<T, kRows, kVectors>(x, a_stride, w + j, b_stride, some, c + j, c_stride);
    for (; j + kWide <= columns; j += kWide)
      add_strip<T, kRows, 1>(x, a_stride, w + j, b_stride, some, c + j, c_stride);
    for (; j < columns; ++j) {
      for (int i = 0; i < kRows; ++i) {
        for (std::int64_t t = 0; t < some; ++t)
          c[i * c_stride + j] += x[i * a_stride + t] * static_cast<float>(w[t * b_stride + j]);
      }
    }
  }
}

template <typename T, int kRows>
void sums_of(const float* a, std::int64_t a_stride, const T* b, std::int64_t b_stride,
             std::int64_t terms, std::int64_t columns, float* c, std::int64_t c_stride) {
  if constexpr (kRows > 4)
    return strips_of<T, kRows>(a, a_stride, b, b_stride, terms, columns, c, c_stride);
  constexpr int kTerms = 4;
  std::int64_t l = 0;
  for (; l + kTerms <= terms; l += kTerms)
    add_terms<T, kRows, kTerms>(a + l, a_stride, b + l * b_stride, b_stride, columns, c, c_stride);
  for (; l < terms; ++l)
    add_terms<T, kRows, 1>(a + l, a_stride, b + l * b_stride, b_stride, columns, c, c_stride);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::compiler
HWY_AFTER_NAMESPACE();
#endif
