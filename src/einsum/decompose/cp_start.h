// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The factors that an iteration of cp() starts from.

#include <vector>

#include "einsum/decompose/cp.h"
#include "einsum/decompose/matrix.h"
#include "einsum/decompose/normalized.h"

namespace assay::einsum {

// Throws UserError if `options.start` does not fit the tensor.
void check_cp_start(const TensorView& x, const CpOptions& options);

// The first start (0) is the one that was given or asked for, all others are random.
template <typename T>
std::vector<Matrix<T>> cp_start(const Normalized<T>& tensor, const CpOptions& options, int start);

}  // namespace assay::einsum
