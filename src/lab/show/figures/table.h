// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lab/record/row.h"
#include "lab/show/figures/figure.h"

namespace assay::lab {

// The table of a recipe with FigureForm::kTable: a line for each series and x, in their order; in
// it the values of what separates them, then the recipe's columns, each the median over attempts, a
// quantity against the baseline, or "crossover" (lab/stats/crossover.h, over a single numeric x; of
// the baseline itself none). What is not known is null. Rows are in the order they were made.
FigureTable compose_table(const FigureRecipe& recipe, const std::vector<const Row*>& rows,
                          const std::string& primary_metric);

// For people: units beside the numbers, "–" for null.
std::string table_markdown(const Figure& figure);

}  // namespace assay::lab
