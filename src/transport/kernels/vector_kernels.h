// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Inner loops that differ by instruction set (combine_kernels.cc, leaf_kernels.cc,
// panel_kernels.cc), each the best that this processor can run. kernels.h and lu.h are their users.
// Matrices are column-major.

#include <cstdint>

#include "transport/kernels/term_block.h"

namespace assay::transport {

inline constexpr int kLeaf = 32;
inline constexpr int kPanelBytes = 256;  // of each column, in a panel of rows

// Which part of a kLeaf×kLeaf block is not zero.
enum class Shape { kFull, kLower, kUpper };

// See combine_columns. `panel` has room for kPanelBytes·(inputs + outputs) bytes, aligned to 64.
template <typename T>
using CombineKernel = void(int rows, const T* in, const TermsView<T>& terms, bool transposed,
                           T* panel, T* out);
CombineKernel<float>* combine_kernel(float);
CombineKernel<double>* combine_kernel(double);

template <typename T>
struct LeafKernels {
  // Inverts the leading n×n part of a kLeaf×kLeaf block in place, n ≤ kLeaf, by Gauss–Jordan with
  // row exchanges inside the part. All of the block must be numbers.
  void (*invert)(int n, T* a);
  // A ← A·block for the rows×columns matrix A, columns ≤ kLeaf, with the leading part of a
  // kLeaf×kLeaf block of that shape.
  void (*multiply)(int rows, int columns, T* a, std::int64_t ld, const T* block, Shape shape);
};
const LeafKernels<float>& leaf_kernels(float);
const LeafKernels<double>& leaf_kernels(double);

// What only the pivoted factorisation needs, which is in f64.
struct PanelKernels {
  // P·L·U of a rows×columns panel in place, columns ≤ kLeaf, columns ≤ rows: row p was exchanged
  // with row pivots[p] ≥ p, for p in order. False when a pivot is zero; the column is left as it is
  // then. Of equal candidates the first is the pivot; NaN is one only where there is nothing else.
  bool (*factor)(int rows, int columns, double* a, std::int64_t ld, int* pivots);
  // The unit lower (kLower) or the upper (kUpper) triangle of an n×n block, n ≤ kLeaf, inverted, as
  // a kLeaf×kLeaf block bordered by the identity. A zero on the diagonal leaves infinities or NaN.
  void (*invert_triangle)(Shape shape, int n, const double* a, std::int64_t ld, double* inverse);
  // B ← block·B for the n×columns matrix B, n ≤ kLeaf, with a kLeaf×kLeaf block of shape kLower.
  void (*apply_lower)(int n, int columns, const double* block, double* b, std::int64_t ldb);
};
const PanelKernels& panel_kernels();

}  // namespace assay::transport
