// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lab/record/figure_recipe.h"

namespace assay::cases::transport {

// What is worth drawing of the cases with lanes.
std::vector<lab::FigureRecipe> scan_figures();
std::vector<lab::FigureRecipe> strong_scaling_figures();
std::vector<lab::FigureRecipe> reuse_figures();
std::vector<lab::FigureRecipe> workflow_figures();

}  // namespace assay::cases::transport
