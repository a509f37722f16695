// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Small real products of f32 in one launch: three TF32 products of the parts of split_product.h,
// split on the way into registers, where the scaled f16 of large products would need a launch
// of its own to find the scales. A tile whose factors have numbers that TF32's parts cannot hold
// (not zero, and not between 2^-50 and 2^50) is computed term by term by the same block.
//
// An instruction adds 8 terms and errs by at most 4u of the sum of absolute values; sums are moved
// to f32 every 128 terms of a warp, which has a quarter of all: with u = 2^-24
//
//   |Ĉ − C| ≤ (8 + 4·16 + ⌈k/512⌉ + 5)·u·Σ|a||b|

#include "semiring/cuda/launch.h"

namespace assay::semiring::cuda {

struct SmallProduct {
  int batches, m, n, k;
  Factor<float> a, b;
  Result<float> c;
  unsigned long long* refused;  // if not null, the number of entries computed term by term is added
};

// Whether all tiles fit into two turns of the multiprocessors, and terms are enough and few enough.
bool is_small_product(std::int64_t batches, std::int64_t m, std::int64_t n, std::int64_t k,
                      int multiprocessors);

void small_product(const SmallProduct& product, cudaStream_t stream);

}  // namespace assay::semiring::cuda
