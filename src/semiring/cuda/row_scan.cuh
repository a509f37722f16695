// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What scanning and packing share: both factors of a launch, and what is known of a row.

#include "semiring/cuda/factors.h"
#include "semiring/cuda/ptx.cuh"

namespace assay::semiring::cuda {

constexpr int kFactorThreads = 256;

// Both factors in one launch: the first `split` blocks of threads belong to A.
struct FactorPair {
  Factor<float> a, b;
  Packed packed_a, packed_b;
  const float* centre;
};

// Whether rows, or terms, can be read four at a time.
__device__ __forceinline__ bool in_fours(const Factor<float>& f, std::int64_t contiguous,
                                         std::int64_t other) {
  return contiguous == 1 && other % 4 == 0 && f.batch_stride % 4 == 0 &&
         reinterpret_cast<std::uintptr_t>(f.data) % 16 == 0;
}
__device__ __forceinline__ float part_of(const float4& x, int i) {
  return i == 0 ? x.x : i == 1 ? x.y : i == 2 ? x.z : x.w;
}

// What scan_rows (factors.h) says of a row, or of some of its terms.
template <Algebra kAlgebra>
struct RowScan {
  float first, second;

  __device__ RowScan()
      : first(kAlgebra == Algebra::kLog ? -INFINITY : 0.0f),
        second(kAlgebra == Algebra::kReal ? INFINITY : 0.0f) {}
  __device__ void add(float x, float centre) {
    if constexpr (kAlgebra == Algebra::kLog) {
      first = max_or_nan(first, x);
    } else if constexpr (kAlgebra == Algebra::kReal) {
      const float size = fabsf(x);
      first = max_or_nan(first, size);
      second = size > 0 ? fminf(second, size) : second;
    } else {
      const float d = x - centre;
      first = max_or_nan(first, fabsf(d));
      second = fmaf(d, d, second);
    }
  }
  __device__ void join(float other_first, float other_second) {
    first = max_or_nan(first, other_first);
    if constexpr (kAlgebra == Algebra::kReal) second = fminf(second, other_second);
    if constexpr (kAlgebra == Algebra::kEuclidean) second += other_second;
  }
};

// Calls f<algebra>(), one of those that are split.
template <class F>
void with_algebra(Algebra algebra, const F& f) {
  if (algebra == Algebra::kReal) return f.template operator()<Algebra::kReal>();
  if (algebra == Algebra::kLog) return f.template operator()<Algebra::kLog>();
  return f.template operator()<Algebra::kEuclidean>();
}

}  // namespace assay::semiring::cuda
