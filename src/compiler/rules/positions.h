// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Integers that are linear in the position of their element, and conditions on them.

#include <optional>
#include <vector>

#include "compiler/rules/tensor_egraph.h"

namespace assay::compiler {

// No number, offset + Σ strides · position, is farther from 0.
double reach_of(const View& numbers, const Symbols& symbols);
// Whether integers of that dtype hold numbers as large, and the difference of two, without wrapping
// around.
bool is_held(DType dtype, double reach);

// offset + Σ strides · position, as a view of the class's shape whose "addresses" are the numbers;
// read through `view`. Nothing where a number may wrap around on the way.
std::optional<View> linear_of(const TensorEGraph& terms, egraph::ClassId id, const View& view);
// True where all of these are at least 0; read through `view`.
std::optional<std::vector<View>> conditions_of(const TensorEGraph& terms, egraph::ClassId id,
                                               const View& view);

}  // namespace assay::compiler
