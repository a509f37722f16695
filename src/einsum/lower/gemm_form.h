// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "einsum/kernels/forms.h"
#include "einsum/lower/pair_task.h"

namespace assay::einsum {

// Matrix products of the tensors as they lie, most fused first choice; nothing where no label of
// some group is contiguous as a matrix product needs it.
std::vector<GemmForm> gemm_forms(const PairTask& task, const Groups& groups);
// Matrix times vector, where M or N is empty; nothing where the matrix is not contiguous.
std::vector<GemvForm> gemv_forms(const PairTask& task, const Groups& groups);

}  // namespace assay::einsum
