// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/algebra_tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semiring/simd/compare_tiles.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "kernels/dispatch.h"
#include "semiring/simd/compare-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::semiring::simd {
namespace HWY_NAMESPACE {
namespace {

template <class Choice, typename T>
constexpr CompareTiles<T> kTables{tiles::tile_table<CompareOps<Choice, false>, T>(),
                                  tiles::tile_table<CompareOps<Choice, true>, T>()};

const CompareTiles<float>* max_plus_tiles_f32() { return &kTables<Larger, float>; }
const CompareTiles<double>* max_plus_tiles_f64() { return &kTables<Larger, double>; }
const CompareTiles<float>* min_plus_tiles_f32() { return &kTables<Smaller, float>; }
const CompareTiles<double>* min_plus_tiles_f64() { return &kTables<Smaller, double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::semiring::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::semiring::simd {

ASSAY_DISPATCH(CompareTiles, max_plus_tiles);
ASSAY_DISPATCH(CompareTiles, min_plus_tiles);

}  // namespace assay::semiring::simd
#endif
