// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bounds that no algorithm beats, and what bandwidth of a collective means. What the algorithm at
// hand costs is in schedule_cost.h.

#include <cstdint>

#include "chip/collective/schedule.h"

namespace assay::chip {

class Fabric;

struct CollectiveBounds {
  // Data of every rank must reach every other: the longest of the shortest ways. Where ranks send
  // one message at a time, what a rank knows at most doubles with each: ceil(log2 p) in a row.
  double latency_s = 0;
  // 2 (p-1)/p n over what a rank can inject for all-reduce, (p-1)/p n for the others.
  double bandwidth_s = 0;

  double best_s() const { return latency_s > bandwidth_s ? latency_s : bandwidth_s; }
};
CollectiveBounds collective_bounds(const Schedule& schedule, double bytes,
                                   const NetworkTopology& network, const Fabric& fabric);

// Whether no rank ever sends two messages at once: one program a rank, one send a stage.
bool one_message_at_a_time(const Schedule& schedule);

// busbw / algbw: 2 (p-1)/p for all-reduce, (p-1)/p for the others.
double bus_factor(Collective collective, std::int64_t ranks);

}  // namespace assay::chip
