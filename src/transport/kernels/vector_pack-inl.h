// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What the files compiled for each instruction set share: packs of elements in the compiler's own
// vectors, as long as a register. Longer ones would be kept in memory. Highway chooses the
// instruction set.
#if defined(ASSAY_TRANSPORT_VECTOR_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_TRANSPORT_VECTOR_PACK_INL_H_
#undef ASSAY_TRANSPORT_VECTOR_PACK_INL_H_
#else
#define ASSAY_TRANSPORT_VECTOR_PACK_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "transport/kernels/vector_kernels.h"

// Before a loop over registers: unrolled early, so that an array of them needs no memory.
#undef UNROLLED
#define UNROLLED _Pragma("GCC unroll 16")
// Bytes of a register, and whether there are 32 of them, not 16.
#undef ASSAY_PACK_BYTES
#undef ASSAY_MANY_REGISTERS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#define ASSAY_PACK_BYTES 64
#define ASSAY_MANY_REGISTERS 1
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define ASSAY_PACK_BYTES 32
#define ASSAY_MANY_REGISTERS 0
#else
#define ASSAY_PACK_BYTES 16
#define ASSAY_MANY_REGISTERS HWY_ARCH_ARM_A64
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::transport {
namespace HWY_NAMESPACE {
namespace {

// A register of elements, wherever they lie. Sums are of the second type: of the first, which may
// alias anything, they would be kept in memory.
template <typename T>
struct Pack;
template <>
struct Pack<double> {
  typedef double Type __attribute__((vector_size(ASSAY_PACK_BYTES), aligned(8), may_alias));
  typedef double Register __attribute__((vector_size(ASSAY_PACK_BYTES)));
  typedef std::int64_t Index __attribute__((vector_size(ASSAY_PACK_BYTES)));
};
template <>
struct Pack<float> {
  typedef float Type __attribute__((vector_size(ASSAY_PACK_BYTES), aligned(4), may_alias));
  typedef float Register __attribute__((vector_size(ASSAY_PACK_BYTES)));
  typedef std::int32_t Index __attribute__((vector_size(ASSAY_PACK_BYTES)));
};
template <typename T>
constexpr int kLanes = ASSAY_PACK_BYTES / sizeof(T);

template <typename T>
HWY_INLINE typename Pack<T>::Register load(const T* at) {
  return *reinterpret_cast<const typename Pack<T>::Type*>(at);
}
template <typename T>
HWY_INLINE void store(T* at, typename Pack<T>::Register value) {
  *reinterpret_cast<typename Pack<T>::Type*>(at) = value;
}

template <typename T>
HWY_INLINE void swap(T& a, T& b) {
  const T c = a;
  a = b;
  b = c;
}

// The row of the greatest magnitude, the first of equals; NaN loses against everything.
template <typename T>
HWY_INLINE int pivot_of(const T* column, int rows) {
  using Register = typename Pack<T>::Register;
  using Index = typename Pack<T>::Index;
  constexpr int lanes = kLanes<T>;
  Register best = Register{} - 1;
  Index where = {}, here = {};
  for (int l = 0; l < lanes; ++l) here[l] = l;
  int r = 0;
  for (; r + lanes <= rows; r += lanes) {
    Register x = load(column + r);
    x = x < 0 ? -x : x;
    const Index greater = x > best;
    best = greater ? x : best;
    where = greater ? here : where;
    here += lanes;
  }
  T value = -1;
  int row = 0;
  for (int l = 0; l < lanes; ++l) {
    if (best[l] > value || (best[l] == value && where[l] < row)) {
      value = best[l];
      row = static_cast<int>(where[l]);
    }
  }
  for (; r < rows; ++r) {
    const T x = column[r] < 0 ? -column[r] : column[r];
    if (x > value) {
      value = x;
      row = r;
    }
  }
  return row;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::transport
HWY_AFTER_NAMESPACE();
#endif
