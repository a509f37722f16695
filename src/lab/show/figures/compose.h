// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From rows to figures: a pure function, the same figures whatever the order of the rows.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "lab/record/row.h"
#include "lab/show/figures/figure.h"

namespace assay::lab {

// What a program knows of a case beside its rows.
struct CaseDrawing {
  std::vector<FigureRecipe> recipes;  // empty: the standard ones
  Json identity;                      // of the case today; null: any
};
using CaseDrawings = std::map<std::string, CaseDrawing, std::less<>>;

// All figures of all cases that have ok rows, in order of their names. A provider that was wrong at
// a point, in any round, is not drawn there. Each figure shows one machine, platform, number of
// cores and way of isolation; where the rows have several, there is a figure for each. A value is
// the median over attempts, its interval the exact one for a median.
//
// Throws UserError that names both when a case's rows have another identity than the case has
// today, or differ in it among themselves.
std::vector<Figure> compose_figures(std::span<const Row> rows, const CaseDrawings& cases);

// The recipes of a case that has none: the primary metric, the ratio to the baseline and the
// fraction of this machine's limit, over the number that varies most, or by point; where rows have
// it, time against energy, a figure for each point.
std::vector<FigureRecipe> standard_recipes(std::span<const Row* const> rows);

}  // namespace assay::lab
