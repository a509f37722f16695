// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/collective_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace assay::chip {
namespace {

// Symbols as in the docs: p ranks, q the largest power of two below, n bytes, a b g the costs.
struct Symbols {
  double p, q, n, a, b, g;
  bool folds;  // p is not a power of two
};

// One pass of a ring over m ranks that own n / m each: m - 1 messages.
double ring_pass(double m, double n, const Symbols& s, bool adds) {
  return (m - 1) * s.a + (m - 1) / m * n * (s.b + (adds ? s.g : 0));
}
// Everybody to everybody of m ranks at once, a link for each pair.
double direct_pass(double m, double n, const Symbols& s, bool adds) {
  if (m <= 1) return 0;
  return s.a + n / m * s.b + (adds ? (m - 1) / m * n * s.g : 0);
}
double two_passes(Collective c, double reduce, double gather) {
  return c == Collective::kAllReduce       ? reduce + gather
         : c == Collective::kReduceScatter ? reduce
                                           : gather;
}

double recursive_doubling(Collective c, const Symbols& s) {
  const double rounds = std::log2(s.q);
  if (c == Collective::kAllToAll) return std::ceil(std::log2(s.p)) * (s.a + s.n / 2 * s.b);
  if (c == Collective::kAllGather) {
    const double fold = s.folds ? 2 * s.a + (s.n / s.p + s.n) * s.b : 0;
    return rounds * s.a + (s.q - 1) / s.q * s.n * s.b + fold;
  }
  const double back = c == Collective::kAllReduce ? s.n : s.n / s.p;
  const double fold = s.folds ? 2 * s.a + (s.n + back) * s.b + s.n * s.g : 0;
  return rounds * (s.a + s.n * s.b + s.n * s.g) + fold;
}

double halving_doubling(Collective c, const Symbols& s) {
  const double rounds = std::log2(s.q), most = (s.q - 1) / s.q * s.n;
  const double halve = rounds * s.a + most * (s.b + s.g), back = rounds * s.a + most * s.b;
  if (!s.folds) return two_passes(c, halve, back);
  const double all_in = s.a + s.n * (s.b + s.g), all_out = s.a + s.n * s.b;
  const double part = s.a + s.n / s.p * s.b;
  if (c == Collective::kAllReduce) return all_in + halve + back + all_out;
  return c == Collective::kReduceScatter ? all_in + halve + part : part + back + all_out;
}

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

AlphaBetaGamma alpha_beta_gamma(const NetworkTopology& network, const Fabric& fabric) {
  const std::size_t hops = hop_extremes(fabric).nearest;
  AlphaBetaGamma cost;
  cost.alpha = to_seconds(static_cast<Time>(hops) * network.link_latency + network.endpoint);
  cost.beta = 1 / static_cast<double>(network.link.per_second());
  if (network.memory) cost.gamma = 3 / static_cast<double>(network.memory->per_second());
  return cost;
}

double alpha_beta_cost(const ScheduleOptions& shape, double bytes, const AlphaBetaGamma& cost) {
  const auto ranks = static_cast<std::uint32_t>(shape.ranks);
  const Symbols s{static_cast<double>(ranks),
                  static_cast<double>(std::bit_floor(ranks)),
                  bytes,
                  cost.alpha,
                  cost.beta,
                  cost.gamma,
                  !std::has_single_bit(ranks)};
  const Collective c = shape.collective;
  const double rows = shape.rows, columns = shape.columns;
  switch (shape.algorithm) {
    case Algorithm::kRing:
      if (c == Collective::kAllToAll) return (s.p - 1) * s.a + (s.p - 1) / 2 * s.n * s.b;
      return two_passes(c, ring_pass(s.p, s.n, s, true), ring_pass(s.p, s.n, s, false));
    case Algorithm::kRecursiveDoubling:
      return recursive_doubling(c, s);
    case Algorithm::kHalvingDoubling:
      return halving_doubling(c, s);
    case Algorithm::kDoubleBinaryTree: {
      const double height = std::ceil(std::log2(s.p));
      return 2 * height * s.a + 2 * s.n * s.b + s.n * s.g +
             2 * std::sqrt(2 * height * s.a * s.n * s.b);
    }
    case Algorithm::kDirect:
      return two_passes(c, direct_pass(s.p, s.n, s, true), direct_pass(s.p, s.n, s, false));
    case Algorithm::kTorus2d:
      if (c == Collective::kAllToAll) {
        return direct_pass(columns, s.n, s, false) + direct_pass(rows, s.n, s, false);
      }
      return two_passes(
          c, ring_pass(columns, s.n, s, true) + ring_pass(rows, s.n / columns, s, true),
          ring_pass(columns, s.n, s, false) + ring_pass(rows, s.n / columns, s, false));
    case Algorithm::kHierarchical:
      if (c == Collective::kAllToAll) {
        return direct_pass(columns, s.n, s, false) + direct_pass(rows, s.n, s, false);
      }
      return two_passes(
          c, direct_pass(columns, s.n, s, true) + ring_pass(rows, s.n / columns, s, true),
          direct_pass(columns, s.n, s, false) + ring_pass(rows, s.n / columns, s, false));
  }
  return 0;
}

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
