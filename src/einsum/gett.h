// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A contraction by packed blocks: index maps tell where row m, column n and index k of the matrices
// lie, whatever the layout, so that no tensor is ever copied whole.

#include "einsum/lower.h"

namespace assay::einsum {

// Elements of the blocks that are in memory at a time.
double gett_workspace(const PairSize& size, int threads);

// c = alpha·Σ a·b + beta·c. `workspace` has gett_workspace() elements.
template <typename T>
void contract_gett(const GettForm& form, const T* a, const T* b, T* c, T alpha, T beta, int threads,
                   T* workspace);

}  // namespace assay::einsum
