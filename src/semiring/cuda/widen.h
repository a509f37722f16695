// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "semiring/cuda/launch.h"
#include "semiring/cuda/matmul.h"

namespace assay::semiring::cuda {

constexpr bool is_half(Scalar scalar) { return scalar == Scalar::kF16 || scalar == Scalar::kBF16; }

// The same product with factors in f32: every f16 and bf16 is one of them. The copies are dense,
// lie as the factors do, and are parts of the arena; with one that only counts, nothing is
// launched. The scalar of `matmul` is kF16 or kBF16. Copies nothing if `wanted` is given and holds
// 0.
Matmul widened(const Matmul& matmul, Arena& arena, cudaStream_t stream,
               const int* wanted = nullptr);

}  // namespace assay::semiring::cuda
