// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/skinny_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "einsum/kernels/skinny_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what they are compiled for.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::einsum {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Eight rows of two vectors are sixteen sums, twice what hides an fma's latency; where there are
// only sixteen registers, half of that. Eight doubles are a cache line: rows that lie side by side
// use each line up at once.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SCALAR || \
    HWY_TARGET == HWY_EMU128
constexpr int kTileRows = 4;
#else
constexpr int kTileRows = 8;
#endif

template <typename T, int kRows, int kVectors, bool kByColumn, bool kSideBySide>
HWY_INLINE void tile(const SkinnyBlock<T>& b, const T* HWY_RESTRICT x, const T* HWY_RESTRICT u,
                     T* HWY_RESTRICT y, const T* ahead) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t row_stride = kSideBySide ? 1 : b.row_stride;
  V sums[kRows * kVectors];
  for (int t = 0; t < kRows; ++t) {
    for (int v = 0; v < kVectors; ++v) {
      sums[t * kVectors + v] = b.add ? hn::LoadU(d, y + t * b.columns + v * lanes) : hn::Zero(d);
    }
  }
  for (std::int64_t i = 0; i < b.depth; ++i) {
    V row[kVectors];
    for (int v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, u + v * lanes);
    u += b.columns;
    if constexpr (!kByColumn && kRows == kTileRows) {
      hwy::Prefetch(ahead + i * b.ahead_depth);
    }
    for (int t = 0; t < kRows; ++t) {
      const T* at = x + t * row_stride;
      if constexpr (kByColumn) {
        for (int v = 0; v < kVectors; ++v) {
          sums[t * kVectors + v] =
              hn::MulAdd(hn::LoadU(d, at + v * lanes), row[v], sums[t * kVectors + v]);
        }
      } else {
        const V element = hn::Set(d, *at);
        for (int v = 0; v < kVectors; ++v) {
          sums[t * kVectors + v] = hn::MulAdd(element, row[v], sums[t * kVectors + v]);
        }
      }
    }
    x += b.depth_stride;
  }
  for (int t = 0; t < kRows; ++t) {
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[t * kVectors + v], d, y + t * b.columns + v * lanes);
    }
  }
}

// All columns of kRows rows.
template <typename T, int kRows, bool kByColumn, bool kSideBySide>
HWY_INLINE void panel(const SkinnyBlock<T>& b, std::int64_t t) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const T* x = b.x + t * b.row_stride;
  const T* ahead = b.ahead + t * b.ahead_row;
  T* y = b.y + t * b.columns;
  std::int64_t r = 0;
  for (; r + 2 * lanes <= b.columns; r += 2 * lanes) {
    tile<T, kRows, 2, kByColumn, kSideBySide>(b, x + (kByColumn ? r : 0), b.u + r, y + r, ahead);
  }
  if (r < b.columns) {
    tile<T, kRows, 1, kByColumn, kSideBySide>(b, x + (kByColumn ? r : 0), b.u + r, y + r, ahead);
  }
}

template <typename T, bool kByColumn, bool kSideBySide>
void block(const SkinnyBlock<T>& b) {
  std::int64_t t = 0;
  for (; t + kTileRows <= b.rows; t += kTileRows) panel<T, kTileRows, kByColumn, kSideBySide>(b, t);
  if constexpr (kTileRows == 8) {
    if (t + 4 <= b.rows) {
      panel<T, 4, kByColumn, kSideBySide>(b, t);
      t += 4;
    }
  }
  if (t + 2 <= b.rows) {
    panel<T, 2, kByColumn, kSideBySide>(b, t);
    t += 2;
  }
  if (t < b.rows) panel<T, 1, kByColumn, kSideBySide>(b, t);
}

template <typename T>
void any_block(const SkinnyBlock<T>& b, bool by_column) {
  if (by_column) {
    block<T, true, false>(b);
  } else if (b.row_stride == 1) {
    block<T, false, true>(b);
  } else {
    block<T, false, false>(b);
  }
}

void block_f32(const SkinnyBlock<float>& b, bool by_column) { any_block(b, by_column); }
void block_f64(const SkinnyBlock<double>& b, bool by_column) { any_block(b, by_column); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::einsum
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::einsum {

HWY_EXPORT(block_f32);
HWY_EXPORT(block_f64);

template <>
void run_skinny_block(const SkinnyBlock<float>& b, bool by_column) {
  HWY_DYNAMIC_DISPATCH(block_f32)(b, by_column);
}
template <>
void run_skinny_block(const SkinnyBlock<double>& b, bool by_column) {
  HWY_DYNAMIC_DISPATCH(block_f64)(b, by_column);
}

}  // namespace assay::einsum
#endif
