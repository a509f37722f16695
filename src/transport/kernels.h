// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The loops that BLAS has no name for, in f64 and f32: sparse combinations of columns, transposes,
// and inversion without pivoting. Matrices are column-major.

#include <cstdint>
#include <vector>

namespace assay::transport {

// `outputs` sums of `width` terms each: out_c = Σ_w weight[c·width + w] · in_{source[c·width + w]}.
// Terms that are not needed have weight 0 and any valid source.
template <typename T>
struct Combination {
  int inputs = 0, outputs = 0, width = 0;
  std::vector<std::int32_t> source;
  std::vector<T> weight;
};

// Column c of out ← Σ_w weight·(column source of in). Both have `rows` rows without gaps; they do
// not overlap. 2·rows·outputs·width flops.
template <typename T>
void combine_columns(int rows, const T* in, const Combination<T>& terms, T* out);

// out (columns×rows) ← inᵀ (in is rows×columns), both without gaps, not overlapping.
template <typename T>
void transpose(int rows, int columns, const T* in, T* out);

// Inverts an n×n matrix in place by halves (Schur complements), all of it matrix products but for
// leaves of 32: 2n³ flops. No pivots are searched; docs/methods/transport.md says why the blocks
// k ≥ 1 do not need them. `scratch` is resized to n²/2 elements. A zero pivot leaves infinities or
// NaN, which the caller must look for.
template <typename T>
void invert_without_pivoting(int n, T* a, int ld, std::vector<T>& scratch);

}  // namespace assay::transport
