// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What theory says about a collective: the alpha-beta-gamma cost of its algorithm, and bounds that
// no algorithm beats. Formulas and their conditions: docs/methods/chip.md.

#include <cstdint>

#include "chip/fabric.h"
#include "chip/schedule.h"

namespace assay::chip {

// Seconds: alpha per message, beta per byte sent, gamma per byte added.
struct AlphaBetaGamma {
  double alpha = 0, beta = 0, gamma = 0;
};

// Of a network without contention: alpha is the latency between the nearest two ranks plus the
// endpoint time, beta one link's time per byte, gamma three accesses of a rank's memory per byte.
AlphaBetaGamma alpha_beta_gamma(const NetworkTopology& network, const Fabric& fabric);

// The textbook cost in seconds, n = `bytes` the vector (for all-gather: all shards together). For
// double_binary_tree, whose segments the textbook leaves open, with the best number of them.
double alpha_beta_cost(const ScheduleOptions& shape, double bytes, const AlphaBetaGamma& cost);

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
