// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a careful user should be told about a solution.

#include "transport/solve.h"

namespace assay::transport {

// Correct digits of a value that may be wrong by `error`: 0 … 16. `scale` stands for a value that
// is smaller than it.
int correct_digits(double value, double error, double scale = 0);
// Of D11, D31, D13 and D33. D31 and D13 may vanish: a thousandth of √(D11·D33), which they cannot
// exceed, is their scale.
std::array<int, 4> correct_digits(const Solution& solution);

// Of the whole system where that was solved, else of its elimination.
double residual(const Solution& solution);

// What of B's spectrum a grid cannot resolve, in words. Counted by derivatives, which drive the
// drift: a mode beyond what the grid can represent appears as another one, and even below that its
// products with others do.
std::vector<std::string> unresolved_field(const Surface& surface, const Grid& grid);

// What to say of a mode of low order, beyond the grid, that nearly closes on itself and that B
// drives; empty: there is none.
std::string unresolved_rational(const Surface& surface, const Geometry& geometry);

// Adds to the warnings what the numbers give reason for.
void add_warnings(const Prepared& prepared, Solution& solution);

}  // namespace assay::transport
