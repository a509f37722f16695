// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How much memory a solve will take, known before anything is computed.

#include "transport/solve.h"

namespace assay::transport {

// While a surface is prepared, in bytes.
double prepare_bytes(const Grid& grid);
// Of one lane, which solves one case after the other. `parity`: all cases can be solved on half the
// unknowns.
double lane_bytes(const Grid& grid, Method method, bool parity, bool whole_system);

}  // namespace assay::transport
