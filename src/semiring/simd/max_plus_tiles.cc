// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/tile_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semiring/simd/max_plus_tiles.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "semiring/simd/compare-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::semiring::simd {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
constexpr TileKernels<T> kPlain = tile_table<CompareOps<Larger, false>, T>();
template <typename T>
constexpr TileKernels<T> kCareful = tile_table<CompareOps<Larger, true>, T>();

const TileKernels<float>* plain_f32() { return &kPlain<float>; }
const TileKernels<double>* plain_f64() { return &kPlain<double>; }
const TileKernels<float>* careful_f32() { return &kCareful<float>; }
const TileKernels<double>* careful_f64() { return &kCareful<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::semiring::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::semiring::simd {
namespace {

HWY_EXPORT(plain_f32);
HWY_EXPORT(plain_f64);
HWY_EXPORT(careful_f32);
HWY_EXPORT(careful_f64);

}  // namespace

const TileKernels<float>& max_plus_tiles(float) { return *HWY_DYNAMIC_DISPATCH(plain_f32)(); }
const TileKernels<double>& max_plus_tiles(double) { return *HWY_DYNAMIC_DISPATCH(plain_f64)(); }
const TileKernels<float>& careful_max_plus_tiles(float) {
  return *HWY_DYNAMIC_DISPATCH(careful_f32)();
}
const TileKernels<double>& careful_max_plus_tiles(double) {
  return *HWY_DYNAMIC_DISPATCH(careful_f64)();
}

}  // namespace assay::semiring::simd
#endif
