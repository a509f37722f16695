// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Register tiles: what one instruction set offers to the blocked product (blocked_product.h).
//
// A tile is `rows` × (`vectors`·`lanes`) entries of C kept in registers while the sum over k runs.
// Its inputs are panels: the left panel holds for each k the tile's rows, the right one its
// columns.
//
//   left  a[(l·rows + i)·replicate + s] = A_il   (s < replicate: a copy for each lane, where the
//                                                 instruction set has no cheap broadcast)
//   right b[l·columns() + j]           = B_lj
//
// Rows and columns beyond the matrix are padding: any value, their sums are not looked at.

#include <array>
#include <cstdint>

namespace assay::kernels {

template <typename T>
struct TileKernels {
  static constexpr int kMaxRowSteps = 4, kMaxVectors = 4, kNarrowForms = 4;

  // c_ij = [c_ij ⊕] ⊕_l a_il ⊗ b_lj over `terms` values of l, for row_step·(step + 1) rows and
  // (vector + 1)·lanes columns.
  using Tile = void (*)(std::int64_t terms, const T* a, const T* b, T* c, std::int64_t row_stride,
                        bool accumulate);
  // The same sums for all rows and 1, 2, 4 or 8 columns (form 0 to 3), with lanes along the rows:
  // sums[j·row_lanes + i], never accumulated. For the last few columns of a matrix, which would
  // leave most of a vector empty.
  using Narrow = void (*)(std::int64_t terms, const T* a, const T* b, T* sums);
  // The first tiles read the factors where they lie: a_il at a[i·a_stride + l], b_lj at
  // b[l·b_stride + j]. For products so small that packing would cost as much as multiplying.
  using Direct = void (*)(std::int64_t terms, const T* a, std::int64_t a_stride, const T* b,
                          std::int64_t b_stride, T* c, std::int64_t row_stride);
  // The largest of the first tiles, its right panel still in the matrix: b_lj at b[l·b_stride + j],
  // left behind as `panel`.
  using Packing = void (*)(std::int64_t terms, const T* a, const T* b, std::int64_t b_stride,
                           T* panel, T* c, std::int64_t row_stride, bool accumulate);
  // x ⊕ y; NaN in either is kept.
  using Merge = T (*)(T x, T y);

  int rows = 0;
  int row_step = 0;
  int vectors = 0;
  int lanes = 0;
  int replicate = 1;
  int row_lanes = 0;  // rows rounded up to whole vectors; 0 where there are no narrow forms
  std::array<std::array<Tile, kMaxVectors>, kMaxRowSteps> tile{};
  std::array<std::array<Direct, kMaxVectors>, kMaxRowSteps> direct{};  // null where there are none
  Packing packing = nullptr;                                           // likewise
  std::array<Narrow, kNarrowForms> narrow{};
  Merge merge = nullptr;

  int columns() const { return vectors * lanes; }
  int left_width() const { return rows * replicate; }
};

// c_ij = [c_ij +] Σ_l a_il·b_lj, of the best instruction set of this machine.
const TileKernels<float>& real_tiles(float);
const TileKernels<double>& real_tiles(double);

}  // namespace assay::kernels
