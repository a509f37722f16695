// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/transpose_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/tiles/transpose_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "kernels/tiles/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kRowsAtOnce = 64;  // of a block of tiles

// Tiles of one cache line along j, since lines whose distance is a power of two would evict each
// other in larger ones, within blocks that need few pages of either side. What whole vectors leave
// of either side is moved element by element.
template <typename T>
HWY_INLINE void transpose_plane(std::int64_t rows, std::int64_t columns, const T* HWY_RESTRICT a,
                                std::int64_t a_stride, T* HWY_RESTRICT c, std::int64_t c_stride) {
  constexpr std::int64_t kLine = 64 / sizeof(T), kLanes = kBlock<T>;
  const std::int64_t whole_i = rows / kLanes * kLanes, whole_j = columns / kLanes * kLanes;
  for (std::int64_t i1 = 0; i1 < whole_i; i1 += kRowsAtOnce) {
    const std::int64_t i2 = std::min(i1 + kRowsAtOnce, whole_i);
    for (std::int64_t j0 = 0; j0 < whole_j; j0 += kLine) {
      const std::int64_t j2 = std::min(j0 + kLine, whole_j);
      for (std::int64_t i = i1; i < i2; i += kLanes) {
        for (std::int64_t j = j0; j < j2; j += kLanes) {
          const T* const from = a + i + j * a_stride;
          transpose_blocks(Block<T>(), from, from + a_stride, from + 2 * a_stride,
                           from + 3 * a_stride, c_stride, c + i * c_stride + j);
        }
      }
    }
  }
  for (std::int64_t i = whole_i; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) c[i * c_stride + j] = a[i + j * a_stride];
  }
  for (std::int64_t j = whole_j; j < columns; ++j) {
    for (std::int64_t i = 0; i < whole_i; ++i) c[i * c_stride + j] = a[i + j * a_stride];
  }
}

// Small planes take less time than a call.
template <typename T>
void transpose(std::int64_t planes, std::int64_t rows, std::int64_t columns,
               TransposeSide<const T> a, TransposeSide<T> c) {
  for (std::int64_t p = 0; p < planes; ++p) {
    transpose_plane(rows, columns, a.data + p * a.plane, a.stride, c.data + p * c.plane, c.stride);
  }
}

TransposeKernel<float>* transpose_f32() { return transpose<float>; }
TransposeKernel<double>* transpose_f64() { return transpose<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(transpose_f32);
HWY_EXPORT(transpose_f64);

TransposeKernel<float>* transpose_kernel(float) { return HWY_DYNAMIC_DISPATCH(transpose_f32)(); }
TransposeKernel<double>* transpose_kernel(double) { return HWY_DYNAMIC_DISPATCH(transpose_f64)(); }

}  // namespace assay::kernels
#endif
