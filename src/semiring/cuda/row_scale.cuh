// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a row is multiplied by before it is split, and how its numbers are split: the table in
// factors.h as code.

#include <cuda_fp16.h>

#include "semiring/cuda/factors.h"
#include "semiring/cuda/tf32.cuh"

namespace assay::semiring::cuda {

__device__ __forceinline__ int exponent_of(float x) {  // of a normal number
  return static_cast<int>((__float_as_uint(x) >> 23) & 255) - 127;
}
__device__ __forceinline__ float power_of_two(int e) {  // −126 ≤ e ≤ 127
  return __uint_as_float(static_cast<unsigned>(e + 127) << 23);
}

struct RowScale {
  float shift = 0, factor = 1, value = 0;
  int exponent = 0;
  bool fits = true;
};

// `first` and `second` are those of scan_rows, joined over the chunks.
template <Algebra kAlgebra, Parts kParts>
__device__ RowScale scale_of(float first, float second) {
  constexpr int kLeast = -100;  // no row of denormal numbers
  RowScale s;
  if constexpr (kAlgebra == Algebra::kLog) {
    s.value = first;
    s.shift = isfinite(first) ? first : 0.0f;
    s.exponent = kParts == Parts::kHalf ? -15 : 0;
    s.factor = power_of_two(-s.exponent);
    return s;
  } else {
    const bool is_finite = first < INFINITY;
    const bool is_normal = is_finite && first > power_of_two(kLeast);
    if (kAlgebra == Algebra::kEuclidean) s.value = second;
    if constexpr (kParts == Parts::kTf32) {
      // Neither products nor their low parts leave the range of normal numbers.
      s.fits = first == 0 || (first < power_of_two(50) && second > power_of_two(-50));
      return s;
    }
    if (is_normal) {
      s.exponent = exponent_of(first) - 14;
      s.factor = power_of_two(-s.exponent);
    }
    if (kAlgebra == Algebra::kReal)
      s.fits = first == 0 || (is_normal && second > power_of_two(-126) &&
                              exponent_of(first) - exponent_of(second) <= 27);
    return s;
  }
}

// Splits kUnit numbers of one row into 16 bytes of high and of low parts.
template <Parts kParts, int kUnit>
__device__ __forceinline__ void split_into(const float (&y)[kUnit], unsigned char* to) {
  uint4 high, low;
  if constexpr (kParts == Parts::kHalf) {
    __half2* h = reinterpret_cast<__half2*>(&high);
    __half2* l = reinterpret_cast<__half2*>(&low);
#pragma unroll
    for (int e = 0; e < kUnit; e += 2) {
      h[e / 2] = __floats2half2_rn(y[e], y[e + 1]);
      const float2 back = __half22float2(h[e / 2]);
      l[e / 2] = __floats2half2_rn((y[e] - back.x) * 2048, (y[e + 1] - back.y) * 2048);
    }
  } else {
    float* h = reinterpret_cast<float*>(&high);
    float* l = reinterpret_cast<float*>(&low);
#pragma unroll
    for (int e = 0; e < kUnit; ++e) {
      h[e] = to_tf32(y[e]);
      l[e] = to_tf32((y[e] - h[e]) * 2048);
    }
  }
  *reinterpret_cast<uint4*>(to) = high;
  *reinterpret_cast<uint4*>(to + kPartBytes) = low;
}

}  // namespace assay::semiring::cuda
