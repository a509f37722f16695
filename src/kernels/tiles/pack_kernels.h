// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packing: a slice of a factor, with any strides, becomes a panel as tile_kernels.h describes it,
// some of them transformed on the way.
//
// A factor is seen from its panel: element (i, l) is row i of A, or column i of B, at term l.

#include <cstdint>

namespace assay::kernels {

template <typename T>
struct PanelSource {
  const T* data;              // element (0, 0) of the panel
  std::int64_t width_stride;  // between neighbours in i
  std::int64_t term_stride;   // between neighbours in l
  std::int64_t terms;
  int count;  // values of i that exist; the panel may be wider
};

// What a panel contains beside finite numbers, as bits.
enum PanelFlag : std::uint8_t { kHasNan = 1, kHasPlusInf = 2, kHasMinusInf = 4 };

template <typename T>
struct PackKernels {
  // panel[l·width + i] = x(i, l), 0 where i ≥ count.
  void (*copy)(const PanelSource<T>& x, int width, T* panel);
  // panel[l·step + i] = rows[i][l] for i < count, l < terms: rows that lie anywhere, and terms that
  // need not be neighbours in the panel.
  void (*copy_rows)(const T* const* rows, int count, std::int64_t terms, std::int64_t step,
                    T* panel);
  // copy() with every element `replicate` times in a row.
  void (*copy_replicated)(const PanelSource<T>& x, int width, int replicate, T* panel);
  // panel[l·width + i] = exp(x(i, l) − shift[i]), to within 2u of its value (u the unit roundoff)
  // plus 1.01 times the smallest normal number, for x ≤ shift and shift finite; what padding holds
  // is finite.
  void (*copy_exp)(const PanelSource<T>& x, int width, const T* shift, T* panel);
  // panel[l·width + i] = x(i, l) − centre[l], rounded.
  void (*copy_centred)(const PanelSource<T>& x, int width, const T* centre, T* panel);
  // PanelFlags of `size` elements.
  std::uint8_t (*flags)(const T* panel, std::int64_t size);
};

const PackKernels<float>& pack_kernels(float);
const PackKernels<double>& pack_kernels(double);

}  // namespace assay::kernels
