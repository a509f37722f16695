// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The loops that BLAS has no name for, in f64 and f32: sparse combinations of columns, and
// inversion without pivoting. Matrices are column-major.

#include <cstdint>
#include <vector>

namespace assay::transport {

// Weighted sums of vectors, out_o += Σ_s weight·in_s, as a list of small dense blocks: the outputs
// of a block all use the same sources. Derivatives along one angle are of this kind, a block for
// each value of the other angle.
struct TermBlock {
  std::int32_t sources = 0, outputs = 0;            // how many
  std::int32_t first_source = 0, first_output = 0;  // in Combination::source and ::output
  std::int64_t first_weight = 0;                    // sources×outputs of them, outputs fastest
  bool starts = false;  // the first block of each of its outputs: sums are set, not added to
};
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
