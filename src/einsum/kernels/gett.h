// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A contraction as one blocked matrix product whose panels are packed straight from the tensors,
// whatever their layout: no operand is ever copied whole. The product is kernels/tiles'; this file
// tells it where rows, columns and terms lie (docs/adr/0016).

#include "einsum/kernels/forms.h"
#include "einsum/labels/network.h"
#include "tensor/dtype.h"

namespace assay::einsum {

// Elements of the panels that are in memory at a time.
double gett_workspace(const PairSize& size, DType dtype);

// The columns that `n` of them cost: those of a tile that is not full take the time of one that is.
double gett_columns(double n, DType dtype);

// c = alpha·Σ a·b + beta·c for one index of form.batch. `a` and `b` are the form's left and right
// operand. T is float, double or std::complex of either.
template <typename T>
void contract_gett(const GettForm& form, const T* a, const T* b, T* c, T alpha, T beta,
                   int threads);

}  // namespace assay::einsum
