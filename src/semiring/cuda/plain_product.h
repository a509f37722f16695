// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products term by term, any algebra but boolean, f32 and f64: what refused tiles, small products
// and other devices take.

#include "semiring/algebra_kind.h"
#include "semiring/cuda/launch.h"

namespace assay::semiring::cuda {

// Which tiles to compute: those of tile_rows × tile_columns whose flag is `wanted`, flags laid out
// [batch][row tile][column tile]; without flags all of them. Tile sides are multiples of 64, or 32.
struct Chosen {
  const int* flags = nullptr;
  int wanted = 1;
  int tile_rows = 128, tile_columns = 128;
  unsigned long long* entries = nullptr;  // if not null, their number is added to it
  bool follows = true;                    // as launch_kernel has it
  const int* any = nullptr;               // if not null and not 1, no flag is set
};

template <typename T>
struct PlainProduct {
  Algebra algebra;
  int batches, m, n, k;
  Factor<T> a, b;
  Result<T> c;
  Chosen chosen;
};

void plain_product(const PlainProduct<float>& product, cudaStream_t stream);
void plain_product(const PlainProduct<double>& product, cudaStream_t stream);

}  // namespace assay::semiring::cuda
