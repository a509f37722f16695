// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sums of products as matrices: the last two axes of the results, with where the factors' rows are.

#include <algorithm>
#include <cstdint>

#include "compiler/graph/view.h"

namespace assay::compiler {

struct MatrixOfSums {
  std::int64_t rows = 1, columns = 1;
  struct Strides {
    std::int64_t row = 0, column = 0;
  };
  Strides x, y;

  // Of the results' shape, both.
  MatrixOfSums(const FixedView& of_x, const FixedView& of_y) {
    const auto rank = of_x.shape.size();
    const auto axis = [&](std::size_t back, std::int64_t& extent, std::int64_t& sx,
                          std::int64_t& sy) {
      if (rank < back) return;
      extent = of_x.shape[rank - back];
      // Where an axis has one element, its stride says nothing.
      sx = extent == 1 ? 0 : of_x.strides[rank - back];
      sy = extent == 1 ? 0 : of_y.strides[rank - back];
    };
    axis(1, columns, x.column, y.column);
    axis(2, rows, x.row, y.row);
  }
  // Whether x's rows are those of the matrix and y's its columns.
  bool is_product() const { return x.column == 0 && y.row == 0; }
  bool is_transposed_product() const { return x.row == 0 && y.column == 0; }
};

// The axes before those.
inline FixedView without_matrix(FixedView view) {
  const auto rank = view.shape.size() - std::min<std::size_t>(2, view.shape.size());
  view.shape.resize(rank);
  view.strides.resize(rank);
  return view;
}

}  // namespace assay::compiler
