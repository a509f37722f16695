// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A point in the engine's terms: what the native providers start from.

#include <vector>

#include "cases/transport/point.h"
#include "lab/record/case.h"
#include "transport/solve.h"

namespace assay::cases::transport {

namespace tr = assay::transport;

tr::Surface engine_surface(const TransportPoint& point);
tr::Grid engine_grid(const TransportPoint& point);
std::vector<tr::Case> engine_cases(const TransportPoint& point, int set);

// Puts the serial lane's answers beside the rows of an expectation of "d", so that every lane's
// difference from it is known. No part of the verdict.
void add_serial_lane(const TransportPoint& point, int set, lab::Expectation& expected);

}  // namespace assay::cases::transport
