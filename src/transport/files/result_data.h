// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a run leaves behind: inputs, geometry and results as named, documented arrays.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "transport/files/data_file.h"
#include "transport/scan/input.h"
#include "transport/solve.h"

namespace assay::transport {

// Everything the numbers depend on, with defaults filled in and the surface's modes written out.
Json resolved_input(const RunInput& input, const Surface& surface, const Geometry& geometry);

// Grids and error bars of cases that each have their own (Solution::resolution), over these axes.
std::vector<Variable> resolution_columns(const std::vector<std::string>& axes,
                                         const std::vector<Solution>& solutions);

// `solutions` are ν̂ × field in the order of input.cases(). Coefficients have the dimensions
// (nu, field), or (case) for pairs; fields on the grid (zeta, theta). Global texts: the input file,
// the resolved inputs as JSON and their sha256, warnings, the method.
DataFile result_data(const RunInput& input, const Surface& surface, const Prepared& prepared,
                     const std::vector<Solution>& solutions);

}  // namespace assay::transport
