// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies of strided tensors. T is float, double, std::complex of either. c never overlaps a, and no
// two indices of c are the same element. With beta 0, c is not read.

#include <span>

#include "einsum/kernels/time_model.h"
#include "einsum/labels/layout.h"

namespace assay::einsum {

// c = alpha·a + beta·c, element by element: a transposition where the strides differ. The loops use
// the strides a and c, all of which are non-zero in c. Blocked so that both sides see whole lines.
template <typename T>
void permute(std::span<const Loop> loops, const T* a, T* c, T alpha, T beta, int threads);

// What a permutation moves, in whole cache lines: runs that are short on either side read or write
// lines of which they use a part. Its calls are the rows or planes that it is done in.
Work permute_work(std::span<const Loop> loops, std::size_t element_size);

}  // namespace assay::einsum
