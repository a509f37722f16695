// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/collective/collective_cost.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "chip/topology/fabric.h"

namespace assay::chip {
namespace {

struct HopExtremes {
  std::size_t nearest, farthest;
};
// The shortest and the longest of the routes between two ranks. Where all ranks are alike, those of
// one of them tell.
HopExtremes hop_extremes(const Fabric& fabric) {
  HopExtremes hops{fabric.links().size(), 0};
  const Fabric::Node last = fabric.all_ranks_alike() ? 1 : fabric.ranks();
  for (Fabric::Node from = 0; from < last; ++from) {
    for (Fabric::Node to = 0; to < fabric.ranks(); ++to) {
      if (from == to) continue;
      const std::size_t count = fabric.route(from, to).size();
      hops.nearest = std::min(hops.nearest, count);
      hops.farthest = std::max(hops.farthest, count);
    }
  }
  return hops;
}

}  // namespace

double bus_factor(Collective collective, std::int64_t ranks) {
  const double share = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  return collective == Collective::kAllReduce ? 2 * share : share;
}

bool one_message_at_a_time(const Schedule& schedule) {
  std::vector<bool> seen(static_cast<std::size_t>(schedule.ranks));
  for (const Program& program : schedule.programs) {
    const auto rank = static_cast<std::size_t>(program.rank);
    if (seen[rank]) return false;
    seen[rank] = true;
    for (const StagePlan& stage : program.stages) {
      if (stage.sends.size() > 1) return false;
    }
  }
  return true;
}

CollectiveBounds collective_bounds(const Schedule& schedule, double bytes,
                                   const NetworkTopology& network, const Fabric& fabric) {
  std::int64_t injected = 0;
  for (Fabric::Node rank = 0; rank < fabric.ranks(); ++rank) injected += fabric.out_degree(rank);
  const auto [nearest, farthest] = hop_extremes(fabric);
  CollectiveBounds bounds;
  bounds.latency_s = to_seconds(static_cast<Time>(farthest) * network.link_latency);
  if (one_message_at_a_time(schedule)) {
    const double rounds = std::ceil(std::log2(static_cast<double>(schedule.ranks)));
    bounds.latency_s = std::max(
        bounds.latency_s,
        rounds * to_seconds(static_cast<Time>(nearest) * network.link_latency + network.endpoint));
  }
  const double inject = static_cast<double>(injected) / static_cast<double>(schedule.ranks) *
                        static_cast<double>(network.link.per_second());
  bounds.bandwidth_s = bus_factor(schedule.collective, schedule.ranks) * bytes / inject;
  return bounds;
}

}  // namespace assay::chip
