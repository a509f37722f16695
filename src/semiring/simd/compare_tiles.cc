// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/algebra_tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semiring/simd/compare_tiles.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "semiring/simd/compare-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::semiring::simd {
namespace HWY_NAMESPACE {
namespace {

template <class Choice, typename T>
constexpr CompareTiles<T> kTables{tiles::tile_table<CompareOps<Choice, false>, T>(),
                                  tiles::tile_table<CompareOps<Choice, true>, T>()};

const CompareTiles<float>* max_plus_f32() { return &kTables<Larger, float>; }
const CompareTiles<double>* max_plus_f64() { return &kTables<Larger, double>; }
const CompareTiles<float>* min_plus_f32() { return &kTables<Smaller, float>; }
const CompareTiles<double>* min_plus_f64() { return &kTables<Smaller, double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::semiring::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::semiring::simd {

HWY_EXPORT(max_plus_f32);
HWY_EXPORT(max_plus_f64);
HWY_EXPORT(min_plus_f32);
HWY_EXPORT(min_plus_f64);

const CompareTiles<float>& max_plus_tiles(float) { return *HWY_DYNAMIC_DISPATCH(max_plus_f32)(); }
const CompareTiles<double>& max_plus_tiles(double) { return *HWY_DYNAMIC_DISPATCH(max_plus_f64)(); }
const CompareTiles<float>& min_plus_tiles(float) { return *HWY_DYNAMIC_DISPATCH(min_plus_f32)(); }
const CompareTiles<double>& min_plus_tiles(double) { return *HWY_DYNAMIC_DISPATCH(min_plus_f64)(); }

}  // namespace assay::semiring::simd
#endif
