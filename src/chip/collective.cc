// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/collective.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "chip/collective/schedule_cost.h"
#include "chip/network/links.h"
#include "chip/network/transport.h"
#include "chip/topology/fabric.h"

namespace assay::chip {
namespace {

constexpr std::int64_t kMaxVector = std::int64_t{1} << 50;
constexpr std::int64_t kMaxSplits = 1 << 12;
constexpr std::int64_t kMaxSegments = 1 << 12;
constexpr std::int64_t kMaxSegmentsOverRanks = 1 << 18;
constexpr std::int64_t kMaxMessages = 1 << 24;
// An all-to-all names ranks^2 blocks, and on a ring every rank handles most of them.
constexpr std::int64_t kMaxAllToAllRanks = 1 << 8;

void check_options(const CollectiveOptions& options, std::int64_t ranks) {
  const auto within = [](std::string_view what, std::int64_t value, std::int64_t low,
                         std::int64_t high) {
    if (value < low || value > high) {
      fail("{} must be between {} and {}, got {}", what, low, high, value);
    }
  };
  within("bytes", options.bytes, 1, kMaxVector);
  within("splits", options.splits, 1, kMaxSplits);
  within("element_bytes", options.element_bytes, 1, kMaxVector);
  within("segments", options.segments, 0, std::min(kMaxSegments, kMaxSegmentsOverRanks / ranks));
  within("group", options.group, 0, kMaxRanks);
  if (options.segments != 0 && options.algorithm != Algorithm::kDoubleBinaryTree) {
    fail("only double_binary_tree has segments, the algorithm is {}", name_of(options.algorithm));
  }
  if (options.group != 0 && options.algorithm != Algorithm::kHierarchical) {
    fail("only hierarchical has groups, the algorithm is {}", name_of(options.algorithm));
  }
  if (options.bytes % options.element_bytes != 0) {
    fail("bytes must be a multiple of the {} bytes of an element, got {}", options.element_bytes,
         options.bytes);
  }
  if (options.collective == Collective::kAllGather && options.bytes > kMaxVector / ranks) {
    fail("bytes of all shards must not exceed {}, got {} on each of {} ranks", kMaxVector,
         options.bytes, ranks);
  }
  if (options.collective == Collective::kAllToAll && ranks > kMaxAllToAllRanks) {
    fail("all_to_all is limited to {} ranks, got {}", kMaxAllToAllRanks, ranks);
  }
}

std::int32_t largest_divisor_to_root(std::int64_t p) {
  std::int64_t best = 1;
  for (std::int64_t d = 1; d * d <= p; ++d) best = p % d == 0 ? d : best;
  return static_cast<std::int32_t>(best);
}

void shape_grid(ScheduleOptions& shape, const CollectiveOptions& options,
                const NetworkTopology& network) {
  const auto p = static_cast<std::int32_t>(network.ranks);
  const bool grid = network.kind == NetworkKind::kMesh || network.kind == NetworkKind::kTorus;
  if (options.algorithm == Algorithm::kTorus2d ||
      options.algorithm == Algorithm::kBidirectionalTorus) {
    shape.rows = grid ? static_cast<std::int32_t>(network.rows) : largest_divisor_to_root(p);
    shape.columns = p / shape.rows;
  } else if (options.algorithm == Algorithm::kHierarchical) {
    shape.columns = options.group > 0 ? static_cast<std::int32_t>(options.group)
                    : network.kind == NetworkKind::kFatTree
                        ? static_cast<std::int32_t>(network.ranks_per_leaf)
                    : grid ? static_cast<std::int32_t>(network.columns)
                           : largest_divisor_to_root(p);
    if (p % shape.columns != 0) {
      fail("group must divide the {} ranks, got {}", p, shape.columns);
    }
    shape.rows = p / shape.columns;
  }
}

// Half of the vector in s segments takes about 2 h + s steps of latency + segment: least where the
// segments' total and the latencies' balance.
std::int64_t best_segments(double half_bytes, const NetworkTopology& network) {
  const double height = std::ceil(std::log2(static_cast<double>(network.ranks)));
  const double transfer = half_bytes / static_cast<double>(network.link.per_second());
  const double latency = to_seconds(network.link_latency + network.endpoint);
  const std::int64_t most = std::min(kMaxSegments, kMaxSegmentsOverRanks / network.ranks);
  if (latency == 0) return most;
  return std::clamp(static_cast<std::int64_t>(std::sqrt(2 * height * transfer / latency)),
                    std::int64_t{1}, most);
}

// How long all bytes of the busiest link take.
Time busiest_link(const std::vector<Schedule>& schedules, std::int64_t element_bytes,
                  const NetworkTopology& network, const Fabric& fabric) {
  std::int64_t load = 0;
  std::vector<std::int64_t> loads(fabric.links().size(), 0);
  for (const Schedule& schedule : schedules) {
    const auto more = link_loads(schedule, fabric);
    for (std::size_t l = 0; l < loads.size(); ++l) load = std::max(load, loads[l] += more[l]);
  }
  return network.link.duration(load * element_bytes);
}

// The same with every message cut to whole nanoseconds: many small ones take less than their bytes.
Time busiest_link_of_astra(const std::vector<MessageRecord>& messages,
                           const NetworkTopology& network, const Fabric& fabric) {
  Links links(fabric.links().size());
  for (const auto& message : messages) {
    const Time blocked = astra_link_time(network, message.bytes);
    for (const auto link : fabric.route(message.from, message.to)) links.reserve(link, 0, blocked);
  }
  return links.busiest();
}

}  // namespace

std::vector<ScheduleOptions> schedule_options(const CollectiveOptions& options,
                                              const NetworkTopology& network) {
  check_options(options, network.ranks);
  ScheduleOptions shape;
  shape.collective = options.collective;
  shape.algorithm = options.algorithm;
  shape.ranks = static_cast<std::int32_t>(network.ranks);
  shape.as_astra =
      options.contention == Contention::kAstra || options.contention == Contention::kAstraUnaware;
  // Elsewhere a rank's port carries both trees in any case, or neighbours are nearer than others.
  shape.disjoint_trees = network.kind == NetworkKind::kFullyConnected;
  shape_grid(shape, options, network);
  std::vector<ScheduleOptions> shapes;
  for (std::int64_t s = 0; s < options.splits; ++s) {
    shape.length = even_part(options.bytes / options.element_bytes, options.splits, s).size();
    if (options.collective == Collective::kAllGather) shape.length *= network.ranks;
    const std::int64_t half = shape.length / 2;
    shape.segments =
        options.segments > 0
            ? options.segments
            : best_segments(static_cast<double>(half * options.element_bytes), network);
    shape.segments = std::clamp(shape.segments, std::int64_t{1}, std::max(half, std::int64_t{1}));
    shape.upper_tree = s % 2 == 0;
    shapes.push_back(shape);
  }
  return shapes;
}

CollectiveResult simulate_collective(const CollectiveOptions& options, const Topology& topology) {
  const NetworkTopology& network = topology.network;

  // 1. Who sends what to whom: one schedule per split.
  const std::vector<ScheduleOptions> shapes = schedule_options(options, network);
  std::vector<Schedule> schedules;
  for (const auto& shape : shapes) {
    schedules.push_back(build_schedule(shape));
    if (schedules.front().messages() > kMaxMessages / options.splits) {
      fail("more than {} messages: {} in each of {} splits", kMaxMessages,
           schedules.front().messages(), options.splits);
    }
  }

  // 2. Let it happen on the network, with the data.
  CollectiveRunResult run = run_schedules(schedules, network,
                                          {.contention = options.contention,
                                           .element_bytes = options.element_bytes,
                                           .payload = options.payload,
                                           .every_element = options.every_element,
                                           .detail = options.detail,
                                           .refuse_wrong = !options.detail,
                                           .seed = options.seed});

  // 3. Beside what theory says.
  CollectiveResult result;
  result.options = options;
  result.topology = topology;
  result.time = run.time;
  result.events = run.events;
  result.verified = run.verified;
  const double bytes =
      static_cast<double>(options.bytes) *
      (options.collective == Collective::kAllGather ? static_cast<double>(network.ranks) : 1);
  if (run.time > 0) {
    result.algbw = bytes / to_seconds(run.time);
    result.busbw = result.algbw * bus_factor(options.collective, network.ranks);
  }
  const Fabric fabric = Fabric::between_ranks(network);
  const auto picoseconds = [](double seconds) { return static_cast<Time>(seconds * 1e12); };
  const auto splits = static_cast<double>(options.splits);
  result.alpha_beta = picoseconds(
      splits * schedule_cost(schedules.front(), options.element_bytes, network, fabric));
  result.bound = picoseconds(collective_bounds(schedules.front(), bytes, network, fabric).best_s());
  if (run.time > 0 && models_links(options.contention)) {
    const Time busy = options.contention == Contention::kAstra
                          ? busiest_link_of_astra(run.messages, network, fabric)
                          : busiest_link(schedules, options.element_bytes, network, fabric);
    // The fluid model's doubles may end a rounding early.
    result.link_use = to_seconds(std::min(busy, run.time)) / to_seconds(run.time);
  }
  for (const auto& message : run.messages) result.bytes_sent += message.bytes;
  result.messages = std::move(run.messages);
  result.results = std::move(run.results);
  result.cells = std::move(run.cells);
  return result;
}

Json to_json(const CollectiveResult& result) {
  const CollectiveOptions& options = result.options;
  return {{"collective", name_of(options.collective)},
          {"algorithm", name_of(options.algorithm)},
          {"network", name_of(result.topology.network.kind)},
          {"ranks", result.topology.network.ranks},
          {"bytes", options.bytes},
          {"contention", name_of(options.contention)},
          {"splits", options.splits},
          {"seed", options.seed},
          {"time_ns", to_ns(result.time)},
          {"algbw", result.algbw},
          {"busbw", result.busbw},
          {"alpha_beta_ns", to_ns(result.alpha_beta)},
          {"bound_ns", to_ns(result.bound)},
          {"messages", result.messages.size()},
          {"bytes_sent", result.bytes_sent},
          {"link_use", models_links(options.contention) ? Json(result.link_use) : Json()},
          {"verified", result.verified},
          {"events", result.events},
          {"engine_version", kEngineVersion},
          {"topology", result.topology.to_json()},
          {"topology_hash", result.topology.hash()}};
}

}  // namespace assay::chip
