// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// In which dtypes a contraction is computed and given back.

#include <span>

#include "einsum/plan/plan.h"

namespace assay::einsum {

struct Dtypes {
  DType compute = DType::kF64;  // of intermediates
  DType result = DType::kF64;
};

// The result has the dtype that was asked for, else the smallest that holds all operands; sums of
// bf16 products are kept in f32. Throws UserError: a dtype that cannot be contracted, or a real
// result of complex operands.
Dtypes choose_dtypes(std::span<const OperandSpec> operands, const PlanOptions& options);

}  // namespace assay::einsum
