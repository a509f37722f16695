// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The steps in which grids are made finer, and what tells that one is not fine enough: what
// `converge` and scans of a given accuracy have in common.

#include <array>
#include <string>

#include "transport/solve.h"

namespace assay::transport {

// One of the three numbers of a grid.
struct GridNumber {
  int Grid::*member;
  int (*raise)(int);
  const char* name;
};
extern const std::array<GridNumber, 3> kGridNumbers;  // n_xi, n_theta, n_zeta

// Larger by a quarter, at least by two (n_xi: four); an angle stays odd, since even sizes cannot
// represent the derivative of their highest mode.
Grid raised(Grid grid, const GridNumber& number);

// How far the spectrum of a solution is above what goes with this tolerance, for each of
// kGridNumbers: above 1 the number is too small.
std::array<double, 3> excess_shares(const Quality& quality, double tolerance);

// What a change of D31 and D13 is relative to at least, since they may vanish (a surface without
// bootstrap current): a hundredth of √(D11·D33), which they cannot exceed.
double off_diagonal_floor(const Coefficients& d);
// Relative changes of D11, D31, D13 and D33 from a to b.
std::array<double, 4> relative_changes(const Coefficients& a, const Coefficients& b);

struct GridLimits {
  int max_points = 2500;  // of n_theta·n_zeta: one block then takes 50 MB
  int max_xi = 400;
};
// Why a grid cannot be solved on, given what it needs and may take of memory; empty: it can.
std::string obstacle_of(const Grid& grid, const GridLimits& limits, double bytes, double available);

}  // namespace assay::transport
