// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "einsum/kernels/forms.h"
#include "einsum/lower/pair_task.h"

namespace assay::einsum {

// Products packed from the tensors, either operand on the left; nothing where M or N is empty.
struct GettChoice {
  GettForm form;
  Layout product;  // empty: the rows and columns of C are those of a matrix; else unpacked to C
};
std::vector<GettChoice> gett_forms(const PairTask& task, const Groups& groups);

}  // namespace assay::einsum
