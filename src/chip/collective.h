// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A collective operation on a network of chips: the front door beside simulate.h.
//
//   Topology chip = default_topology();
//   chip.network = parse_network("torus:4x4", 0, chip.network);
//   const CollectiveResult result = simulate_collective({.bytes = 1 << 20}, chip);

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "chip/collective/collective_cost.h"
#include "chip/collective/collective_run.h"
#include "chip/collective/schedule.h"
#include "chip/topology/topology.h"

namespace assay::chip {

struct CollectiveOptions {
  Collective collective = Collective::kAllReduce;
  Algorithm algorithm = Algorithm::kRing;
  // The vector that every rank puts in; for all-gather the shard of each rank.
  std::int64_t bytes = 0;
  // Cut-through with queues is the model of the chip's own mesh as well.
  Contention contention = Contention::kFifo;
  // Parts of the vector that are done one after another: what a framework calls chunks.
  std::int64_t splits = 1;
  // A vector is cut only between elements: 4 bytes are a float.
  std::int64_t element_bytes = 4;
  // Segments per tree of double_binary_tree; 0: as many as make filling the pipeline and a
  // message's latency cost about the same.
  std::int64_t segments = 0;
  // Ranks per group of hierarchical; 0: what hangs on one leaf switch or lies in one row, else the
  // largest divisor up to the square root.
  std::int64_t group = 0;
  // Carry data and check the result. If not, only time is simulated.
  bool payload = true;
  // Let every element travel instead of one for each run of elements with the same fate.
  bool every_element = false;
  // Log what every message carries and when it had each link; leave the data to be judged elsewhere
  // instead of refusing a wrong sum.
  bool detail = false;
  std::uint64_t seed = 0;  // of the data
};

struct CollectiveResult {
  CollectiveOptions options;
  Topology topology;
  Time time = 0;
  double algbw = 0, busbw = 0;  // bytes per second
  Time alpha_beta = 0;          // what the algorithm costs on this network, see schedule_cost.h
  Time bound = 0;               // no algorithm is faster on this network
  std::uint64_t events = 0;
  std::int64_t bytes_sent = 0;  // by all ranks
  // Of the busiest link: the part of the time that its bytes take, at most 1. 0 where the model
  // knows no links (models_links).
  double link_use = 0;
  std::vector<MessageRecord> messages;
  std::vector<std::vector<double>> results;  // by rank, where data was carried
  std::vector<std::int64_t> cells;           // first elements that the results of a split stand for
  bool verified = false;
};

// Simulates the collective on topology.network. Throws UserError for sizes that cannot be cut, an
// algorithm that is not defined for the collective, segments or a group where the algorithm has
// none, or a group that does not divide the ranks.
CollectiveResult simulate_collective(const CollectiveOptions& options, const Topology& topology);

// How the collective is shaped for a network: grid, segments. One per split.
std::vector<ScheduleOptions> schedule_options(const CollectiveOptions& options,
                                              const NetworkTopology& network);

// The object that `assay chip collective --json` prints.
Json to_json(const CollectiveResult& result);

}  // namespace assay::chip
