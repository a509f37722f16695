// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// In which order the loops of a contraction are nested, and what that moves through the caches.
//
// One nest serves three tensors that rarely agree on which label is contiguous. The obvious order,
// that of the result, reads an operand a line for each element where they disagree, and can be ten
// times slower than another. So several orders are written down, as each tensor would have them,
// and the one is taken that moves the fewest lines.

#include <cstddef>
#include <span>
#include <vector>

#include "einsum/layout.h"
#include "einsum/time_model.h"

namespace assay::einsum {

// The loops, joined where all three tensors walk two of them as one, outermost first, in the order
// with the least predicted work. Loops with c = 0 are summed and may be anywhere.
std::vector<Loop> nest_loops(std::vector<Loop> loops, std::size_t element_size);

// What walking the loops in this order does. Bytes are those of cache lines that have to come from
// beyond the second-level cache, and a share of those from beyond the first; calls are runs of the
// two innermost loops; an innermost loop that is not contiguous costs as much as several that are.
Work nest_work(std::span<const Loop> loops, std::size_t element_size);

}  // namespace assay::einsum
