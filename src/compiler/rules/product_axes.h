// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "compiler/program/program.h"

namespace assay::compiler {

// out[r…] = Σ_k a[r…, k] · b[r…, k], with a and b as views of one shape [r…, k], as a matrix
// product: axes along which only a changes are rows, those of b alone columns, the others a batch.
// Operands of the result are 0, 1 and 2. Nothing where there are neither rows nor columns, or where
// an operand does not change along k: a reduction then does as well.
std::optional<Matmul> matmul_of(const View& a, const View& b, DType accumulate);

}  // namespace assay::compiler
