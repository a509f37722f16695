// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Integers that are linear in the position of their element, and conditions on them.

#include <optional>
#include <vector>

#include "compiler/rules/tensor_egraph.h"

namespace assay::compiler {

// offset + Σ strides · position, as a view of the class's shape whose "addresses" are the numbers;
// read through `view`.
std::optional<View> linear_of(const TensorEGraph& terms, egraph::ClassId id, const View& view);
// True where all of these are at least 0; read through `view`.
std::optional<std::vector<View>> conditions_of(const TensorEGraph& terms, egraph::ClassId id,
                                               const View& view);

}  // namespace assay::compiler
