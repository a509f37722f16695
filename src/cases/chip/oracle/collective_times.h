// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the time of an all-reduce is where no two messages ever want the same link at the same time,
// and what it is at least.

#include <optional>

#include "cases/chip/oracle/chip_network.h"
#include "cases/chip/oracle/chip_numbers.h"
#include "cases/chip/oracle/message_laws.h"

namespace assay::cases::chip {

// To the picosecond, the endpoint before the first message included; nothing where messages
// contend, parts differ in size, or no such formula is known.
std::optional<Ps> exact_time(const ChipNumbers& c, const ChipNetwork& network,
                             const AllReduceProblem& problem);

// The least of any algorithm, in seconds. Bandwidth: every rank sends 2 (p-1)/p of the vector on
// average. Latency: the farthest two ranks; where ranks send one message at a time, what a rank
// knows at most doubles with each.
double least_seconds(const ChipNumbers& c, const ChipNetwork& network,
                     const AllReduceProblem& problem);

}  // namespace assay::cases::chip
