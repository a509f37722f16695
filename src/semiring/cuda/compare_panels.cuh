// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The factors of max_plus and min_plus as compare_product.cu reads them. For .cu files.

#include "semiring/cuda/launch.h"

namespace assay::semiring::cuda {

inline constexpr int kStageTerms = 32;

// Panels of `width` rows, [batch][panel][term][width], terms padded to whole stages with −∞.
struct Panels {
  int batches, width, panels, terms;
  float* data;
  int* largest;  // [batch][panel]: the largest number as an integer that orders alike
};

// Orders all floats but NaN like integers; NaN is the largest.
__device__ __forceinline__ int ordered(float x) {
  if (x != x) return 0x7fffffff;
  const int bits = __float_as_int(x);
  return bits >= 0 ? bits : bits ^ 0x7fffffff;
}
__device__ __forceinline__ float from_ordered(int bits) {
  return __int_as_float(bits >= 0 ? bits : bits ^ 0x7fffffff);
}

struct PanelPair {
  Factor<float> a, b;
  Panels pa, pb;
  int is_min;  // numbers change their signs
};

// `width` is a multiple of 32. `largest` is left to the caller.
Panels plan_panels(Arena& arena, const Factor<float>& f, int batches, int width);
// Fills both. `largest` must hold numbers below all others.
void pack_panels(const PanelPair& pair, cudaStream_t stream);

}  // namespace assay::semiring::cuda
