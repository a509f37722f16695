// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Dimensions as torch.export writes them: SymPy's srepr, "Mul(Integer(2), Symbol('s77',
// positive=True, integer=True))".

#include <string_view>

#include "compiler/graph/dimension.h"

namespace assay::models::pt2 {

// Sums, products, powers, floor division, remainder, least and greatest, of integers and symbols.
// Throws UserError that names the text, and what in it is none of these.
compiler::Dim dim_from_expression(std::string_view text);

}  // namespace assay::models::pt2
