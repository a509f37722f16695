// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lab/record/figure_recipe.h"

namespace assay::cases::chip {

// What interprets the suite's rows.
std::vector<lab::FigureRecipe> gemm_figures();
std::vector<lab::FigureRecipe> all_reduce_figures();
std::vector<lab::FigureRecipe> buffer_figures();

}  // namespace assay::cases::chip
