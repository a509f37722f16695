// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/tile_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/tiles/real_tiles.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "kernels/dispatch.h"
#include "kernels/tiles/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace {

struct RealOps {
  static constexpr TileShape kShape = kMultiplyShape;
  static constexpr bool kDirect = true;

  template <class D>
  static HWY_INLINE hn::Vec<D> zero(D d) {
    return hn::Zero(d);
  }
  template <int kVectors, class V>
  static HWY_INLINE void reduce(V a, const V* b, V* acc) {
    for (int v = 0; v < kVectors; ++v) acc[v] = hn::MulAdd(a, b[v], acc[v]);
  }
  template <class V>
  static HWY_INLINE V merge(V x, V y) {
    return hn::Add(x, y);
  }
  template <typename T>
  static T merge_scalar(T x, T y) {
    return x + y;
  }
};

const TileKernels<float>* real_tiles_f32() {
  static constexpr TileKernels<float> kTable = tile_table<RealOps, float>();
  return &kTable;
}
const TileKernels<double>* real_tiles_f64() {
  static constexpr TileKernels<double> kTable = tile_table<RealOps, double>();
  return &kTable;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

ASSAY_DISPATCH(TileKernels, real_tiles);

}  // namespace assay::kernels
#endif
