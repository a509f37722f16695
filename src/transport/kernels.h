// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The loops that BLAS has no name for, in f64 and f32: sparse combinations of columns, and
// inversion without pivoting. Matrices are column-major.

#include <cstdint>
#include <vector>

#include "transport/term_block.h"

namespace assay::transport {

// The sums of term_block.h, owned.
template <typename T>
struct Combination {
  int inputs = 0, outputs = 0;
  std::vector<TermBlock> blocks;
  std::vector<std::int32_t> source, output;
  std::vector<T> weight;
};

// Column o of out ← Σ_s weight·(column s of in); `rows` rows without gaps. With `transposed`, that
// is row o of out, which has `outputs` rows then. in and out do not overlap. 2·rows·weights flops.
template <typename T>
void combine_columns(int rows, const T* in, const Combination<T>& terms, bool transposed, T* out);

// Inverts an n×n matrix in place by halves (Schur complements), all of it matrix products but for
// leaves of 32: 2n³ flops. No pivots are searched; docs/methods/transport.md says why the blocks
// k ≥ 1 do not need them. `scratch` is resized to n²/2 elements. A zero pivot leaves infinities or
// NaN, which the caller must look for.
template <typename T>
void invert_without_pivoting(int n, T* a, int ld, std::vector<T>& scratch);

// A·X = B in place of the n×columns matrix B, with A as blas::factor_lu left it. The triangles are
// taken apart by halves down to leaves of 32, which are inverted, so that all work is matrix
// products: OpenBLAS's own triangular solve runs at a third of the rate of its product.
// `scratch` is resized as needed.
void solve_lu_by_products(int n, int columns, const double* lu, const std::vector<int>& pivots,
                          double* b, std::vector<double>& scratch);

}  // namespace assay::transport
