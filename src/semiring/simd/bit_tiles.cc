// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/algebra_tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semiring/simd/bit_tiles.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "kernels/tiles/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::semiring::simd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace tiles = kernels::HWY_NAMESPACE;

struct BitOps {
  static constexpr tiles::TileShape kShape = tiles::kCompareShape;
  static constexpr bool kDirect = false;

  template <class D>
  static HWY_INLINE hn::Vec<D> zero(D d) {
    return hn::Zero(d);
  }
  template <int kVectors, class V>
  static HWY_INLINE void reduce(V a, const V* b, V* acc) {
    for (int v = 0; v < kVectors; ++v) acc[v] = hn::OrAnd(acc[v], a, b[v]);
  }
  template <class V>
  static HWY_INLINE V merge(V x, V y) {
    return hn::Or(x, y);
  }
  template <typename T>
  static T merge_scalar(T x, T y) {
    return x | y;
  }
};

const kernels::TileKernels<std::uint32_t>* bit_tiles_u32() {
  static constexpr kernels::TileKernels<std::uint32_t> kTable =
      tiles::tile_table<BitOps, std::uint32_t>();
  return &kTable;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::semiring::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::semiring::simd {

HWY_EXPORT(bit_tiles_u32);

const kernels::TileKernels<std::uint32_t>& bit_tiles() {
  return *HWY_DYNAMIC_DISPATCH(bit_tiles_u32)();
}

}  // namespace assay::semiring::simd
#endif
