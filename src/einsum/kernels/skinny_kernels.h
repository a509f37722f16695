// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What skinny.cc asks of the instruction set: a block that is small enough for the caches.

#include <cstdint>

namespace assay::einsum {

// y(t, r) (+)= Σ_i x(t, i)·u(i, r) over `rows` t and `depth` i, where x(t, i) is the element at
// x[t·row_stride + i·depth_stride], or with `by_column` the vector of columns that begins there.
template <typename T>
struct SkinnyBlock {
  const T* x;
  std::int64_t rows, depth, row_stride, depth_stride;
  const T* u;            // depth × columns
  std::int64_t columns;  // whole vectors of 64 bytes
  T* y;                  // rows × columns
  bool add;              // to what y holds
  // What is read later and fetched into the cache meanwhile: as the sums of row t take depth i, the
  // line at ahead[t·ahead_row + i·ahead_depth]. Need not be readable.
  const T* ahead;
  std::int64_t ahead_row, ahead_depth;
};

template <typename T>
void run_skinny_block(const SkinnyBlock<T>& block, bool by_column);

}  // namespace assay::einsum
