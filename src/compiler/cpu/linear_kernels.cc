// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/linear_kernels.h"

#include <algorithm>

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compiler/cpu/linear_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "compiler/cpu/element-inl.h"
#include "kernels/tiles/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::compiler {
namespace HWY_NAMESPACE {
namespace {

namespace tiles = kernels::HWY_NAMESPACE;
using D32 = hn::ScalableTag<float>;
using V32 = hn::Vec<D32>;
constexpr int kRows = tiles::kMultiplyShape.rows, kVectors = tiles::kMultiplyShape.vectors;
constexpr int kLanes = tiles::kLanes<float>;
// A multiply-add by a lane wants rows side by side; where an element is broadcast as it is loaded,
// a row is as good. Rows do not begin a power of two apart, which would fall on one another in the
// nearest cache.
constexpr bool kIsByLane = HWY_TARGET == HWY_NEON;
constexpr std::int64_t kPitch = kIsByLane ? 0 : LinearKernels::kMostTerms + 16;

template <bool kAcross, int kRow>
HWY_INLINE V32 element_of_panel(const float* HWY_RESTRICT a) {
  if constexpr (kAcross)
    return tiles::left_element<float, 1, kRow>(a);
  else
    return hn::Set(D32(), a[kRow * kPitch]);
}

template <bool kAcross, int kWide, int kRow>
HWY_INLINE void add_rows(const float* HWY_RESTRICT a, const V32* b, V32* sums) {
  if constexpr (kRow > 0) add_rows<kAcross, kWide, kRow - 1>(a, b, sums);
  const V32 left = element_of_panel<kAcross, kRow>(a);
#pragma GCC unroll 4
  for (int v = 0; v < kWide; ++v)
    sums[kRow * kWide + v] = hn::MulAdd(left, b[v], sums[kRow * kWide + v]);
}

template <bool kAcross, int kWide>
HWY_INLINE void sum_tile(const LinearTile& t, std::int64_t step) {
  const D32 d;
  constexpr std::int64_t kTermsAhead = 16, kWidth = std::int64_t{kWide} * kLanes;
  V32 sums[kRows * kWide];
#pragma GCC unroll 48
  for (int i = 0; i < kRows * kWide; ++i) sums[i] = hn::Zero(d);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kWide; ++v) hwy::Prefetch(t.sums + i * t.sums_stride + v * kLanes);
  }
  const float* HWY_RESTRICT a = t.panel;
  const float* HWY_RESTRICT b = t.x;
  for (std::int64_t begin = 0; begin < t.terms; begin += kTermsAhead) {
    // Into the second level: the nearest is full.
    for (std::int64_t r = 0; r < t.ahead_rows; ++r)
      __builtin_prefetch(t.ahead + r * t.ahead_stride + begin * t.ahead_size, 0, 2);
    const std::int64_t count = std::min(kTermsAhead, t.terms - begin);
    for (std::int64_t l = 0; l < count; ++l) {
      V32 right[kWide];
#pragma GCC unroll 4
      for (int v = 0; v < kWide; ++v) {
        right[v] = hn::Load(d, b + v * kLanes);
        if (v * kLanes * 4 % 64 == 0) hwy::Prefetch(b + kTermsAhead * kWidth + v * kLanes);
      }
      add_rows<kAcross, kWide, kRows - 1>(a, right, sums);
      a += step;
      b += kWidth;
    }
  }
  if (t.accumulate) {
#pragma GCC unroll 48
    for (int i = 0; i < kRows * kWide; ++i)
      sums[i] =
          hn::Add(hn::LoadU(d, t.sums + i / kWide * t.sums_stride + i % kWide * kLanes), sums[i]);
  }
#pragma GCC unroll 48
  for (int i = 0; i < kRows * kWide; ++i)
    hn::StoreU(sums[i], d, t.sums + i / kWide * t.sums_stride + i % kWide * kLanes);
}

template <int kWide>
void linear_tile(const LinearTile& t) {
  sum_tile<kIsByLane, kWide>(t, kIsByLane ? kRows : 1);
}
template <int kWide>
void across_tile(const LinearTile& t) {
  sum_tile<true, kWide>(t, t.panel_stride);
}

template <typename T>
void copy_rows_of(const T* from, std::int64_t row_stride, int count, std::int64_t terms,
                  float* HWY_RESTRICT panel) {
  const D32 d;
  for (int i = 0; i < count; ++i) {
    const T* row = from + i * row_stride;
    float* to = panel + i * kPitch;
    std::int64_t l = 0;
    for (; l + kLanes <= terms; l += kLanes) hn::StoreU(load_elements(d, row + l), d, to + l);
    for (; l < terms; ++l) to[l] = static_cast<float>(row[l]);
  }
  for (int i = count; i < kRows; ++i) std::fill_n(panel + i * kPitch, terms, 0.0f);
}

// Lines too far apart to be foreseen are asked for some terms before their turn.
template <typename T>
void copy_terms_of(const T* from, std::int64_t term_stride, int count, std::int64_t terms,
                   int width, float* HWY_RESTRICT panel) {
  const D32 d;
  constexpr std::int64_t kTermsAhead = 16;
  for (std::int64_t l = 0; l < terms; ++l) {
    const T* row = from + l * term_stride;
    float* to = panel + l * width;
    for (int i = 0; i < count; i += static_cast<int>(64 / sizeof(T)))
      hwy::Prefetch(row + kTermsAhead * term_stride + i);
    int i = 0;
    for (; i + kLanes <= count; i += kLanes) hn::StoreU(load_elements(d, row + i), d, to + i);
    for (; i < count; ++i) to[i] = static_cast<float>(row[i]);
    for (; i < width; ++i) to[i] = 0;
  }
}

// f(T*) for elements of that dtype.
template <typename F>
void visit_elements(DType dtype, const std::byte* from, F&& f) {
  switch (dtype) {
    case DType::kF32:
      return f(reinterpret_cast<const float*>(from));
    case DType::kBF16:
      return f(reinterpret_cast<const BFloat16*>(from));
    case DType::kF16:
      return f(reinterpret_cast<const Half*>(from));
    default:
      throw InternalError("a matrix of f32, f16 or bf16");
  }
}
[[maybe_unused]] void copy_rows(DType dtype, const std::byte* from, std::int64_t row_stride,
                                int count, std::int64_t terms, float* panel) {
  visit_elements(dtype, from,
                 [&](const auto* rows) { copy_rows_of(rows, row_stride, count, terms, panel); });
}
void copy_terms(DType dtype, const std::byte* from, std::int64_t term_stride, int count,
                std::int64_t terms, int width, float* panel) {
  visit_elements(dtype, from, [&](const auto* rows) {
    copy_terms_of(rows, term_stride, count, terms, width, panel);
  });
}

constexpr LinearKernels linear_table_of() {
  LinearKernels kernels;
  kernels.rows = kRows;
  kernels.lanes = kLanes;
  kernels.vectors = kVectors;
  kernels.pitch = kPitch;
  kernels.copy_rows = kIsByLane ? nullptr : copy_rows;
  kernels.copy_terms = copy_terms;
  kernels.tile = {linear_tile<1>, linear_tile<2>};
  kernels.across = {across_tile<1>, across_tile<2>};
  if constexpr (kVectors > 2) {
    kernels.tile[2] = linear_tile<3>;
    kernels.across[2] = across_tile<3>;
  }
  return kernels;
}
const LinearKernels* linear_table() {
  static constexpr LinearKernels kTable = linear_table_of();
  return &kTable;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::compiler
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::compiler {

HWY_EXPORT(linear_table);
const LinearKernels& linear_kernels() { return *HWY_DYNAMIC_DISPATCH(linear_table)(); }

}  // namespace assay::compiler
#endif
