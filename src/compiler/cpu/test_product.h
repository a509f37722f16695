// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests of products.

#include "compiler/cpu/test_kernel.h"

namespace assay::compiler {

// How a factor [rows, columns] lies: row by row, column by column, with gaps.
inline Access laid_out(KernelCheck& check, DType dtype, std::int64_t rows, std::int64_t columns,
                       int how, KernelCheck::Values values = KernelCheck::Values::kUnit) {
  if (how == 0) return check.whole(check.add(dtype, {rows, columns}, values));
  if (how == 1) {
    const auto operand = check.add(dtype, {columns, rows}, values);
    return {operand, View::contiguous({columns, rows}).permute({1, 0})};
  }
  const auto operand = check.add(dtype, {rows, 2 * columns}, values);
  return {operand, View::contiguous({rows, 2 * columns}).slice(1, 0, 2 * columns, 2)};
}

// Sums of k products of values up to 4 by 4, in f32 or f64; the plain ones are exact beside them.
inline double bound_of_sums(DType accumulate, DType out, std::int64_t k) {
  const double terms = static_cast<double>(k) + 2;
  return 16 * terms * terms * unit_roundoff(accumulate) + 16 * terms * unit_roundoff(out);
}

}  // namespace assay::compiler
