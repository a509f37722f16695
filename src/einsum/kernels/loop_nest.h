// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// In which order the loops of a contraction are nested, and what that moves through the caches.
//
// One nest serves three tensors that rarely agree on which label is contiguous. The obvious order,
// that of the result, reads an operand a line for each element where they disagree, and can be ten
// times slower than another. So several orders are written down, as each tensor would have them,
// and the one that moves the fewest lines is taken.

#include <cstddef>
#include <span>
#include <vector>

#include "einsum/kernels/time_model.h"
#include "einsum/labels/layout.h"

namespace assay::einsum {

// The innermost loops of a nest, as loop_kernels.h takes them.
struct InnerLoops {
  Loop p, h, k, row;      // extent 1 where there is none
  std::size_t outer = 0;  // loops that are left
  // There is a sum, an operand is contiguous along the row, and the other as tiles need it.
  bool tiled = false;
  bool swapped = false;  // that operand is b
};
InnerLoops inner_loops_of(std::span<const Loop> loops, bool has_b);

// Of how many terms a tile makes a sum at a time, h × k. Terms that lie far apart are taken a few
// at a time, along the whole row: else every vector of it would walk all of them, and no prefetcher
// follows.
struct Terms {
  std::int64_t h, k;
};
Terms terms_together(const InnerLoops& in, std::size_t element_size);

// Whether the two innermost loops are walked in squares of a cache line: there is no sum, and the
// tensors disagree on which of the two has its elements closer together.
bool is_transposition(std::span<const Loop> loops);

// The loops, joined where all three tensors walk two of them as one, outermost first, in the order
// with the least predicted work. Loops with c = 0 are summed and may be anywhere.
std::vector<Loop> nest_loops(std::vector<Loop> loops, std::size_t element_size);

// What walking the loops in this order does. Bytes are those of cache lines that have to come from
// beyond the second-level cache, and a share of those from beyond the first; calls are runs of the
// innermost loops; flop are two for each cycle that a plain count of instructions gives; jumps are
// accesses to pages that were not met lately.
Work nest_work(std::span<const Loop> loops, std::size_t element_size);

}  // namespace assay::einsum
