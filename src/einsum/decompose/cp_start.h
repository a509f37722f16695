// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The factors that an iteration of cp() starts from.

#include <vector>

#include "einsum/decompose/cp_tensor.h"
#include "einsum/decompose/matrix.h"

namespace assay::einsum {

// Throws UserError if `options.start` does not fit the tensor.
void check_cp_start(DType dtype, const Shape& shape, const CpOptions& options);

// The first start (0) is the one that was given or asked for, all others are random.
template <typename T>
std::vector<Matrix<T>> cp_start(CpTensor<T>& tensor, const CpOptions& options, int start);

}  // namespace assay::einsum
