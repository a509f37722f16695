// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The alpha-beta-gamma cost of a schedule on a network. Textbooks give a formula for each algorithm
// on a network that suits it; on another, links carry several messages and a formula that does not
// know it may promise what no network can do. Here both are said of the schedule itself:
//
//   cost = max(chain, latency + load)
//   chain    the longest chain of messages that wait for one another, each alone on its route:
//            hops * L + bytes * beta + endpoint + bytes added * gamma
//   latency  the same with messages of no bytes
//   load     the bytes of the busiest link, * beta; a rank's port is a link, or several
//
// On a network where nothing contends it is the textbook's formula. It leaves out the endpoint time
// before the first message, as they do. No bound of collective_cost.h is above it: data reaches
// every rank along some chain, and what ranks must inject passes over their links.

#include <cstdint>
#include <vector>

#include "chip/collective/schedule.h"
#include "chip/topology/fabric.h"

namespace assay::chip {

// Elements that each link of the fabric carries.
std::vector<std::int64_t> link_loads(const Schedule& schedule, const Fabric& fabric);

// In seconds. Throws UserError where sends and receives do not match, or wait forever.
double schedule_cost(const Schedule& schedule, std::int64_t element_bytes,
                     const NetworkTopology& network, const Fabric& fabric);

}  // namespace assay::chip
