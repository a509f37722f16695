// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Real products of f16 and bf16 factors by cuBLAS's matrix instructions, one for each pair.
//
// A product of two such numbers has at most 22 bits and is exact; an instruction that adds 16 of
// them to a sum errs by at most 4u of the sum of absolute values (split_product.h). Sums of
// kLibraryTerms terms are added in f32, hence, with u = 2^-24,
//
//   |Ĉ − C| ≤ (4·⌈min(k, 4096)/16⌉ + ⌈k/4096⌉)·u·Σ|a||b|
//
// which is below k·u, the bound of f32's own sum one after the other. Of f16 no product and no sum
// leaves the range of normal f32 numbers. Of bf16 they may: the sizes of both factors are looked
// at, and where the largest or the smallest could meet so, or one is not finite, everything is
// computed again term by term from copies in f32.

#include "semiring/cuda/launch.h"
#include "semiring/cuda/matmul.h"

namespace assay::semiring::cuda {

constexpr int kLibraryTerms = 4096;

// Whether the product has a library, and matrices as it takes them: rows or columns contiguous.
bool can_take_library(const Matmul& matmul);

// `refused` as plain_product's entries. With an arena that only counts, nothing is launched.
void library_product(const Matmul& matmul, int multiprocessors, Arena& arena,
                     unsigned long long* refused, cudaStream_t stream);

}  // namespace assay::semiring::cuda
