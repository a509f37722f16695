// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "lab/record/row.h"
#include "lab/show/figures/figure.h"

namespace assay::lab {

// One figure from the rows that belong on it, in the order they were made; its name and subtitle
// are the caller's. Nothing when no row has what the recipe asks for.
std::optional<Figure> compose_page(const FigureRecipe& recipe, std::vector<const Row*> rows);

}  // namespace assay::lab
