// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What all forms of products share: which axes they have, and what becomes of a sum.

#include <string>

#include "compiler/cuda/source/forms.h"

namespace assay::compiler::cuda {

struct ProductAxes {
  explicit ProductAxes(const Matmul& work);
  std::vector<Dim> batch;  // leading axes
  Dim m, n, k;
};

// Statements that take the sum `total` (of the wide type of `accumulate`) at batch indices
// b0 …, row i and column j through the epilogue and store it; of several columns from j on, `total`
// is an array.
std::string end_of_sum(const SourceMaker& maker, const Matmul& work, int lanes = 1);
// Statements that store `total` at `indices` of an access without an epilogue.
std::string stored_sum(const SourceMaker& maker, const Access& out, DType accumulate,
                       const std::vector<std::string>& indices, int lanes = 1);
// Products are added in this; "fmaf(x, y, sum)" and its like.
std::string accumulator(DType accumulate);
std::string multiplied(DType accumulate, const std::string& x, const std::string& y,
                       const std::string& sum);
// b0, b1, … of `batch`.
std::vector<std::string> numbered(const std::string& name, std::size_t count);

}  // namespace assay::compiler::cuda
