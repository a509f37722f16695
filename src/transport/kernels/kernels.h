// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The loops that BLAS has no name for, in f64 and f32: sparse combinations of columns, and
// inversion without pivoting. Matrices are column-major.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/kernels/term_block.h"

namespace assay::transport {

inline std::size_t elements(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

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

// Inverts an n×n matrix without gaps in place, all of it products of matrices with n rows but for
// leaves of 32: 2n³ flops. No pivots are searched outside the leaves; docs/methods/transport.md
// says why the blocks k ≥ 1 do not need them. `scratch` is resized to n²/4 elements. A zero pivot
// leaves infinities or NaN, which the caller must look for.
template <typename T>
void invert_without_pivoting(int n, T* a, std::vector<T>& scratch);

}  // namespace assay::transport
