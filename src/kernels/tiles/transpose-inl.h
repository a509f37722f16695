// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Transposition of small blocks in registers, compiled once per instruction set.
#if defined(ASSAY_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_TRANSPOSE_INL_H_
#undef ASSAY_KERNELS_TRANSPOSE_INL_H_
#else
#define ASSAY_KERNELS_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most 128 bits: the block that every instruction set can transpose.
template <typename T>
using Block = hn::CappedTag<T, 16 / sizeof(T)>;
template <typename T>
inline constexpr int kBlock = static_cast<int>(hn::MaxLanes(Block<T>()));

// Two blocks next to each other, transposed together where a vector holds as much.
template <typename T>
using TwoBlocks = hn::CappedTag<T, 32 / sizeof(T)>;

#if HWY_TARGET != HWY_SCALAR
// One term of each row from the first block of x, and the term kBlock later from the second.
template <class D, typename T, class V>
HWY_INLINE void store_blocks(D d, V x, std::int64_t step, T* HWY_RESTRICT panel) {
  if constexpr (hn::MaxLanes(D()) > kBlock<T>) {
    const hn::Half<D> half;
    hn::StoreU(hn::LowerHalf(half, x), half, panel);
    hn::StoreU(hn::UpperHalf(half, x), half, panel + kBlock<T> * step);
  } else {
    hn::StoreU(x, d, panel);
  }
}
#endif

// kBlock rows of one or two blocks of terms, transposed into a panel whose terms lie `step` apart.
template <class D, typename T>
HWY_INLINE void transpose_blocks(D d, const T* r0, const T* r1, const T* r2, const T* r3,
                                 std::int64_t step, T* HWY_RESTRICT panel) {
#if HWY_TARGET == HWY_SCALAR
  hn::StoreU(hn::LoadU(d, r0), d, panel);
  (void)r1, (void)r2, (void)r3, (void)step;
#else
  const auto v0 = hn::LoadU(d, r0), v1 = hn::LoadU(d, r1);
  if constexpr (sizeof(T) == 8) {
    store_blocks(d, hn::InterleaveLower(d, v0, v1), step, panel);
    store_blocks(d, hn::InterleaveUpper(d, v0, v1), step, panel + step);
    (void)r2, (void)r3;
  } else {
    const auto v2 = hn::LoadU(d, r2), v3 = hn::LoadU(d, r3);
    const auto low02 = hn::InterleaveLower(d, v0, v2), low13 = hn::InterleaveLower(d, v1, v3);
    const auto high02 = hn::InterleaveUpper(d, v0, v2), high13 = hn::InterleaveUpper(d, v1, v3);
    store_blocks(d, hn::InterleaveLower(d, low02, low13), step, panel);
    store_blocks(d, hn::InterleaveUpper(d, low02, low13), step, panel + step);
    store_blocks(d, hn::InterleaveLower(d, high02, high13), step, panel + 2 * step);
    store_blocks(d, hn::InterleaveUpper(d, high02, high13), step, panel + 3 * step);
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();
#endif
