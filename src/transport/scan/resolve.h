// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One case, from a first grid to one that is fine enough.

#include "transport/scan/rungs.h"

namespace assay::transport {

struct AccuracyOptions {
  double accuracy = 1e-2;  // wanted relative error of every coefficient
  GridLimits limits;
  bool adjoint_consistent = false;
};

// Each number one step coarser; the lowest stay.
Grid lowered(Grid grid);
// The coarsest grid that can be judged: the one two steps below still sees the field vary. An angle
// that B does not depend on has three points, and is left alone.
Grid least_grid(const Surface& surface);
// Where a case without neighbours starts: the strong modes of B are resolved.
Grid first_grid(const Surface& surface);

// Multiplications and additions of a solve, for comparisons.
double flops_of(const Grid& grid, Method method);

// Raises what the spectrum shows to be too small. Then solves one and two steps below as well:
// where one of the two changes of some coefficient is above the accuracy, the numbers that cause
// it are raised, and so on. `bytes`: what it may take of memory. Answers by Solution::resolution;
// where limits or memory end the climb, with a warning that has the figures.
Solution resolve_case(const Surface& surface, const Case& at, const Grid& start, Method method,
                      const AccuracyOptions& options, double bytes, Workspace& workspace);

}  // namespace assay::transport
