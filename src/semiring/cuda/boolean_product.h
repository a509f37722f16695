// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// C_ij = or_k (A_ik and B_kj), 32 terms in each operation: both factors are packed into bits first.

#include "semiring/cuda/launch.h"

namespace assay::semiring::cuda {

struct BooleanProduct {
  int batches, m, n, k;
  Factor<unsigned char> a, b;  // any byte but 0 is true
  Result<unsigned char> c;
};

// Takes what it needs from the arena; with one that only counts, nothing is launched.
void boolean_product(const BooleanProduct& product, Arena& arena, cudaStream_t stream);

}  // namespace assay::semiring::cuda
