// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scans that choose the grid of each case by themselves.

#include <span>

#include "transport/scan/resolve.h"
#include "transport/scan/scan.h"

namespace assay::transport {

// Every case on the coarsest grid found that is good enough: resolve_case(). A case starts one step
// below the grid of its nearest neighbour in ν̂ and field among those with a larger ν̂ or, at the
// same ν̂, a weaker field. Answers depend neither on threads, of which each has its share of the
// memory, nor on interruptions; options.journal, interrupt and the rest are as in solve_scan().
// Throws UserError where the limits leave no grid.
ScanResult solve_scan_to(const Surface& surface, std::span<const Case> cases,
                         const ScanOptions& options, const AccuracyOptions& accuracy);

// What choosing grids has cost, beside one grid for all that is as fine as any of them had to be.
struct AccuracyCost {
  std::size_t cases = 0, solves = 0;  // mirrored cases left out
  double flops = 0, fixed_flops = 0;
  Grid finest;  // the largest of each number

  AccuracyCost& operator+=(const AccuracyCost& other);
};
AccuracyCost cost_of(std::span<const Solution> solutions, bool mirror);
// "5.1 solves a case; …", for people.
std::string cost_text(const AccuracyCost& cost);

}  // namespace assay::transport
