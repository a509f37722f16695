// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Contractions that no matrix product helps, by loops over strided tensors. T is float, double,
// std::complex of either. c never overlaps a or b, and no two indices of c are the same element.
// With beta 0, c is not read. Sums run in a fixed order, whatever the threads.

#include <span>

#include "einsum/labels/layout.h"

namespace assay::einsum {

// c = alpha·Σ a·b + beta·c over the loops in this order, outermost first (loop_nest.h); loops with
// c = 0 are summed. b may be null: then it is 1.
template <typename T>
void contract_loops(std::span<const Loop> loops, const T* a, const T* b, T* c, T alpha, T beta,
                    int threads);

}  // namespace assay::einsum
