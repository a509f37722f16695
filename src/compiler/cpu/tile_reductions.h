// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sums and greatest elements of tiles, by the best instruction set of this machine.

#include <cstdint>

#include "compiler/graph/graph.h"

namespace assay::compiler {

// A sum or a greatest on its way: floating point in `f`, integers and bool in `i`.
struct TileReduction {
  double f = 0;
  std::int64_t i = 0;
};
// Takes in elements; the greatest of nothing yet is taken from the first.
struct TileReduce {
  // Those of one row, which follow each other.
  void (*along)(const void* in, std::int64_t count, TileReduction& so_far) = nullptr;
  // Those of `rows` rows, element c of row r at in[c · rows + r]. What becomes of a row does not
  // depend on which others there are.
  void (*down)(const void* in, std::int64_t rows, std::int64_t columns,
               TileReduction* so_far) = nullptr;
};

// kSum or kMaxReduce.
TileReduce find_tile_reduce(Op op, DType dtype);

// What a reduction starts from, and what came out of it, rounded to the dtype.
TileReduction reduction_start(Op op, DType dtype);
void store_reduction(const TileReduction& reduction, DType dtype, void* to);

}  // namespace assay::compiler
