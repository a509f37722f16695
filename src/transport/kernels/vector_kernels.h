// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Inner loops that are compiled once for each instruction set (combine_kernels.cc, leaf_kernels.cc,
// panel_kernels.cc; see CMakeLists.txt) and chosen when the program runs. kernels.h and lu.h are
// their users. Matrices are column-major.

#include <cstdint>

#include "transport/kernels/term_block.h"

namespace assay::transport {

inline constexpr int kLeaf = 32;
inline constexpr int kPanelBytes = 256;  // of each column, in a panel of rows

// What of a kLeaf×kLeaf block is not zero.
enum class Shape { kFull, kLower, kUpper };

// For T = double and float:
//
// combine        See combine_columns. `panel` has room for kPanelBytes·(inputs + outputs) bytes,
//                aligned to 64.
// invert_leaf    Inverts the leading n×n part of a kLeaf×kLeaf block in place, n ≤ kLeaf, by
//                Gauss–Jordan with row exchanges inside the part. All of the block must be numbers.
// multiply_leaf  A ← A·block for the rows×columns matrix A, columns ≤ kLeaf, with the leading part
//                of a kLeaf×kLeaf block of that shape.
//
// What only the pivoted factorisation needs, which is in f64:
//
// factor_panel      P·L·U of a rows×columns panel in place, columns ≤ kLeaf, columns ≤ rows: row p
//                   was exchanged with row pivots[p] ≥ p, for p in order. False when a pivot is
//                   zero; the column is left as it is then. Of equal candidates the first is the
//                   pivot; NaN is one only where there is nothing else.
// invert_triangle   The unit lower (kLower) or the upper (kUpper) triangle of an n×n block, n ≤
//                   kLeaf, inverted, as a kLeaf×kLeaf block bordered by the identity. A zero on the
//                   diagonal leaves infinities or NaN.
// apply_lower_leaf  B ← block·B for the n×columns matrix B, n ≤ kLeaf, with a kLeaf×kLeaf block of
//                   shape kLower.
#define ASSAY_DECLARE_KERNELS(instruction_set)                                                   \
  namespace instruction_set {                                                                    \
  template <typename T>                                                                          \
  void combine(int rows, const T* in, const TermsView<T>& terms, bool transposed, T* panel,      \
               T* out);                                                                          \
  template <typename T>                                                                          \
  void invert_leaf(int n, T* a);                                                                 \
  template <typename T>                                                                          \
  void multiply_leaf(int rows, int columns, T* a, std::int64_t ld, const T* block, Shape shape); \
  bool factor_panel(int rows, int columns, double* a, std::int64_t ld, int* pivots);             \
  void invert_triangle(Shape shape, int n, const double* a, std::int64_t ld, double* inverse);   \
  void apply_lower_leaf(int n, int columns, const double* block, double* b, std::int64_t ldb);   \
  }
ASSAY_DECLARE_KERNELS(baseline)
#if defined(__x86_64__)
ASSAY_DECLARE_KERNELS(avx2)
ASSAY_DECLARE_KERNELS(avx512)
#endif
#undef ASSAY_DECLARE_KERNELS

}  // namespace assay::transport
