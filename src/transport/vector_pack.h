// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the files compiled for each instruction set share. Only plain loops of their own: an inline
// function of the standard library, compiled there for a newer processor, could be the copy that
// the linker keeps for everyone; so everything here is in a namespace of the instruction set.

#include <cstdint>

#include "transport/vector_kernels.h"

// Before a loop over registers: unrolled early, so that an array of them needs no memory.
#define UNROLLED _Pragma("GCC unroll 8")

namespace assay::transport {
namespace ASSAY_INSTRUCTION_SET {
namespace {

// 64 bytes of elements, wherever they lie: one AVX-512 register, or as many smaller ones. Sums are
// of the second type: of the first, which may alias anything, they would be kept in memory.
template <typename T>
struct Pack;
template <>
struct Pack<double> {
  typedef double Type __attribute__((vector_size(64), aligned(8), may_alias));
  typedef double Register __attribute__((vector_size(64)));
  typedef std::int64_t Index __attribute__((vector_size(64)));
};
template <>
struct Pack<float> {
  typedef float Type __attribute__((vector_size(64), aligned(4), may_alias));
  typedef float Register __attribute__((vector_size(64)));
  typedef std::int32_t Index __attribute__((vector_size(64)));
};
template <typename T>
constexpr int kLanes = 64 / sizeof(T);

template <typename T>
inline typename Pack<T>::Register load(const T* at) {
  return *reinterpret_cast<const typename Pack<T>::Type*>(at);
}
template <typename T>
inline void store(T* at, typename Pack<T>::Register value) {
  *reinterpret_cast<typename Pack<T>::Type*>(at) = value;
}

template <typename T>
inline void swap(T& a, T& b) {
  const T c = a;
  a = b;
  b = c;
}

template <typename T>
inline T magnitude(T x) {
  return x < 0 ? -x : x;
}

}  // namespace
}  // namespace ASSAY_INSTRUCTION_SET
}  // namespace assay::transport
