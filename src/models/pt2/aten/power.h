// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "compiler/graph/graph_tensor.h"

namespace assay::models::pt2 {

// base^exponent, both of one dtype: of floating point through f64, of integers, which wrap around,
// exactly where the exponent is below 65536.
compiler::GraphTensor raised(const compiler::GraphTensor& base,
                             const compiler::GraphTensor& exponent);
// By a number that asks for a root or for few factors; none for all others.
std::optional<compiler::GraphTensor> raised_simply(const compiler::GraphTensor& base,
                                                   double exponent);

}  // namespace assay::models::pt2
