// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "chip/collective/schedule_cost.h"
#include "chip/topology/fabric.h"

namespace assay::chip {
namespace {

Topology on(std::string_view network, std::int64_t ranks = 0) {
  Topology topology = default_topology();
  topology.network = parse_network(network, ranks, topology.network);
  return topology;
}

// Every network that p ranks can form.
std::vector<NetworkTopology> networks_of(std::int64_t p) {
  std::vector<NetworkTopology> networks;
  const NetworkTopology base = default_topology().network;
  for (const char* plain : {"ring", "fully_connected", "switch"}) {
    networks.push_back(parse_network(plain, p, base));
  }
  for (std::int64_t rows = 1; rows <= p; ++rows) {
    if (p % rows != 0) continue;
    const std::string grid = std::to_string(rows) + "x" + std::to_string(p / rows);
    networks.push_back(parse_network("mesh:" + grid, 0, base));
    networks.push_back(parse_network("torus:" + grid, 0, base));
    networks.push_back(parse_network("fat_tree:" + grid + "x2", 0, base));
  }
  NetworkTopology one_way = parse_network("ring", p, base);
  one_way.kind = NetworkKind::kCustom;
  for (std::int64_t i = 0; i < p; ++i) one_way.links.emplace_back(i, (i + 1) % p);
  networks.push_back(one_way);
  return networks;
}

constexpr Collective kEveryCollective[] = {Collective::kAllReduce, Collective::kReduceScatter,
                                           Collective::kAllGather, Collective::kAllToAll};
constexpr Algorithm kEveryAlgorithm[] = {Algorithm::kRing,
                                         Algorithm::kRecursiveDoubling,
                                         Algorithm::kHalvingDoubling,
                                         Algorithm::kDoubleBinaryTree,
                                         Algorithm::kDirect,
                                         Algorithm::kTorus2d,
                                         Algorithm::kHierarchical,
                                         Algorithm::kBidirectionalRing,
                                         Algorithm::kBidirectionalTorus};
constexpr Contention kEveryContention[] = {Contention::kFifo, Contention::kAstra,
                                           Contention::kFluid, Contention::kAstraUnaware};

// simulate_collective throws when data comes out wrong.
void expect_right(const CollectiveOptions& options, const NetworkTopology& network) {
  Topology topology = default_topology();
  topology.network = network;
  const std::string what =
      fmt::format("{} {} on {} {}x{}, {} ranks, {} bytes, {}", name_of(options.collective),
                  name_of(options.algorithm), name_of(network.kind), network.rows, network.columns,
                  network.ranks, options.bytes, name_of(options.contention));
  try {
    const CollectiveResult result = simulate_collective(options, topology);
    EXPECT_TRUE(result.verified) << what;
    EXPECT_GE(result.time, result.bound) << what;
    for (const auto& message : result.messages) ASSERT_GT(message.t_arrived, message.t_sent);
  } catch (const std::exception& e) {
    ADD_FAILURE() << what << ": " << e.what();
  }
}

TEST(Collective, GivesTheRightResultOnEveryNetwork) {
  int turn = 0;
  for (std::int64_t p = 2; p <= 17; ++p) {
    for (const auto& network : networks_of(p)) {
      for (const Collective collective : kEveryCollective) {
        for (const Algorithm algorithm : kEveryAlgorithm) {
          if (!defined_for(algorithm, collective)) continue;
          CollectiveOptions options{.collective = collective, .algorithm = algorithm};
          options.bytes = options.element_bytes * (10 * p + 7);  // p divides it for p = 7 alone
          options.contention = kEveryContention[turn++ % 4];
          expect_right(options, network);
        }
      }
    }
  }
}

TEST(Collective, GivesTheRightResultAtAwkwardSizes) {
  for (std::int64_t p = 2; p <= 17; ++p) {
    const NetworkTopology network = parse_network("ring", p, default_topology().network);
    for (const std::int64_t elements : {std::int64_t{1}, p - 1, p, p + 1, std::int64_t{1001}}) {
      for (const Collective collective : kEveryCollective) {
        for (const Algorithm algorithm : kEveryAlgorithm) {
          if (!defined_for(algorithm, collective)) continue;
          CollectiveOptions options{.collective = collective, .algorithm = algorithm};
          options.bytes = options.element_bytes * elements;
          options.splits = elements % 3 + 1;
          options.contention = kEveryContention[elements % 4];
          expect_right(options, network);
        }
      }
    }
  }
}

TEST(Collective, EveryElementTravelsWhenAsked) {
  const Topology topology = on("ring", 5);
  for (const Algorithm algorithm : kEveryAlgorithm) {
    CollectiveOptions options{.algorithm = algorithm, .bytes = 4 * 103, .every_element = true};
    const CollectiveResult full = simulate_collective(options, topology);
    ASSERT_EQ(full.results.size(), 5u);
    for (const auto& result : full.results) {
      ASSERT_EQ(result.size(), 103u);
      EXPECT_EQ(result, full.results[0]);
    }
    options.every_element = false;
    const CollectiveResult runs = simulate_collective(options, topology);
    EXPECT_EQ(runs.time, full.time);
    EXPECT_LE(runs.results[0].size(), full.results[0].size());
    options.payload = false;
    const CollectiveResult none = simulate_collective(options, topology);
    EXPECT_EQ(none.time, full.time);
    EXPECT_FALSE(none.verified);
  }
}

TEST(Collective, WrongSchedulesAreCaught) {
  const Topology topology = on("ring", 3);
  Schedule schedule = build_schedule({.ranks = 3, .length = 9});
  // The first message is copied instead of added.
  schedule.programs[1].stages[0].receives[0].adds = false;
  EXPECT_THROW(run_schedules({schedule}, topology.network, {}), InternalError);
}

TEST(Collective, DeadlockNamesTheWaitingRanks) {
  const Topology topology = on("ring", 3);
  // Rank 0 and rank 1 each want the other's message before they send their own; rank 2 waits for
  // somebody who never sends.
  Schedule schedule;
  schedule.ranks = 3;
  schedule.length = schedule.extent = 1;
  schedule.ranges = {{0, 1}};
  const Transfer to0{0, 0, 0, 1, false}, to1{1, 0, 0, 1, false};
  schedule.programs = {{0, false, {{{}, {to1}}, {{to1}, {}}}},
                       {1, false, {{{}, {to0}}, {{to0}, {}}}},
                       {2, false, {{{}, {to1}}}}};
  try {
    run_schedules({schedule}, topology.network, {});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(),
                 "the collective deadlocks: rank 0 waits for rank 1; rank 1 waits for rank 0; rank "
                 "2 waits for rank 1");
  }
  schedule.programs.pop_back();
  schedule.programs[0].stages.pop_back();
  schedule.programs[1].stages[0].receives.clear();
  schedule.programs[1].stages[0].sends = {to0, to0};
  schedule.programs[1].stages.pop_back();
  EXPECT_THROW(run_schedules({schedule}, topology.network, {}), UserError);  // sent twice
}

TEST(Collective, RefusesSchedulesThatMakeNoSense) {
  const NetworkTopology network = on("ring", 3).network;
  const auto refused = [&](auto change) {
    Schedule schedule = build_schedule({.ranks = 3, .length = 9});
    change(schedule);
    EXPECT_THROW(run_schedules({schedule}, network, {}), UserError);
  };
  refused([](Schedule& s) { s.programs[0].stages[0].sends[0].peer = 3; });
  refused([](Schedule& s) { s.programs[0].stages[0].sends[0].peer = 0; });
  refused([](Schedule& s) { s.programs[0].stages[0].receives[0].peer = -1; });
  refused([](Schedule& s) { s.programs[0].stages[0].sends[0].ranges = 1000; });
  refused([](Schedule& s) { s.ranges[0].end = 100; });
  refused([](Schedule& s) { s.programs[1].stages.clear(); });
  refused([](Schedule& s) { s.programs[1].rank = 7; });
  refused([](Schedule& s) { ++s.ranges[1].end; });  // sent in one size, received in another
}

// What the cost is there, schedule_cost_test.cc holds against the textbook.
TEST(Collective, EqualsItsCostWithoutContention) {
  // 50 GB/s and 60 GB/s of memory give whole picoseconds per byte, and the vector divides evenly:
  // what remains is the endpoint time before the first message and the rounding of doubles.
  const auto expect_cost = [](Algorithm algorithm, std::string_view network, std::int64_t p,
                              Collective collective = Collective::kAllReduce) {
    Topology topology = on(network, p);
    topology.network.memory = Rate(60'000'000'000);
    for (const auto contention : {Contention::kFifo, Contention::kFluid}) {
      const CollectiveResult result = simulate_collective({.collective = collective,
                                                           .algorithm = algorithm,
                                                           .bytes = 1 << 20,
                                                           .contention = contention},
                                                          topology);
      EXPECT_NEAR(static_cast<double>(result.time - topology.network.endpoint),
                  static_cast<double>(result.alpha_beta), 2)
          << name_of(algorithm) << " " << network << " " << name_of(contention);
    }
  };
  expect_cost(Algorithm::kRing, "ring", 8);
  expect_cost(Algorithm::kRing, "ring", 16);
  expect_cost(Algorithm::kRing, "ring", 8, Collective::kReduceScatter);
  expect_cost(Algorithm::kRing, "ring", 8, Collective::kAllGather);
  expect_cost(Algorithm::kRing, "ring", 8, Collective::kAllToAll);
  expect_cost(Algorithm::kRecursiveDoubling, "fully_connected", 16);
  expect_cost(Algorithm::kRecursiveDoubling, "fully_connected", 16, Collective::kAllGather);
  expect_cost(Algorithm::kRecursiveDoubling, "fully_connected", 16, Collective::kAllToAll);
  expect_cost(Algorithm::kHalvingDoubling, "fully_connected", 16);
  expect_cost(Algorithm::kHalvingDoubling, "fully_connected", 8, Collective::kReduceScatter);
  expect_cost(Algorithm::kDirect, "fully_connected", 8);
  expect_cost(Algorithm::kDirect, "fully_connected", 8, Collective::kAllToAll);
  expect_cost(Algorithm::kTorus2d, "torus:4x4", 0);
  expect_cost(Algorithm::kTorus2d, "torus:4x8", 0);
}

TEST(Collective, SegmentsFillTheTree) {
  const Topology topology = on("fully_connected", 16);
  const auto time = [&](std::int64_t segments) {
    return simulate_collective(
               {.algorithm = Algorithm::kDoubleBinaryTree, .bytes = 64 << 20, .segments = segments},
               topology)
        .time;
  };
  const CollectiveResult chosen =
      simulate_collective({.algorithm = Algorithm::kDoubleBinaryTree, .bytes = 64 << 20}, topology);
  EXPECT_LT(chosen.time, time(1) / 2);
  EXPECT_LT(chosen.time, time(4));
  EXPECT_LT(static_cast<double>(chosen.time), 1.1 * static_cast<double>(chosen.alpha_beta));
}

// Segments follow one another in every model: posted all at once they would share the links, and
// the first would be as late as the last.
TEST(Collective, FluidPacesSegments) {
  for (const char* network : {"fully_connected", "switch"}) {
    const auto time = [&](Contention contention, std::int64_t segments) {
      return static_cast<double>(simulate_collective({.algorithm = Algorithm::kDoubleBinaryTree,
                                                      .bytes = 64 << 20,
                                                      .contention = contention,
                                                      .segments = segments},
                                                     on(network, 8))
                                     .time);
    };
    const double fluid = time(Contention::kFluid, 0), fifo = time(Contention::kFifo, 0);
    EXPECT_NEAR(fluid / fifo, 1, 0.06) << network;
    EXPECT_LT(time(Contention::kFluid, 4), 0.6 * time(Contention::kFluid, 1)) << network;
    EXPECT_LT(fluid, time(Contention::kFluid, 4)) << network;
  }
}

// 64 MiB over eight ranks: no link of the full network carries both trees, so that half of the
// vector passes each; on one port everything passes whatever the labels are.
TEST(Collective, TreesShareNoLink) {
  const auto time = [](std::string_view network, std::int64_t p) {
    return to_seconds(
        simulate_collective(
            {.algorithm = Algorithm::kDoubleBinaryTree, .bytes = 64 << 20, .payload = false},
            on(network, p))
            .time);
  };
  EXPECT_LT(time("fully_connected", 8), 730e-6);
  EXPECT_LT(time("fully_connected", 16), 750e-6);
  EXPECT_NEAR(time("switch", 8), 2808e-6, 60e-6);
  for (const std::int64_t p : {6, 7, 8, 11, 12, 16, 32}) {
    const auto schedule = build_schedule({.algorithm = Algorithm::kDoubleBinaryTree,
                                          .ranks = static_cast<std::int32_t>(p),
                                          .length = 1000,
                                          .disjoint_trees = true});
    const auto loads =
        link_loads(schedule, Fabric::between_ranks(on("fully_connected", p).network));
    EXPECT_EQ(*std::max_element(loads.begin(), loads.end()), 500) << p;
  }
}

// Share of the bandwidth bound at 64 MiB: both ways round a ring, all four links of a torus.
TEST(Collective, UsesEveryLink) {
  const auto share = [](Algorithm algorithm, std::string_view network, std::int64_t p) {
    const auto r = simulate_collective({.algorithm = algorithm, .bytes = 64 << 20}, on(network, p));
    return static_cast<double>(r.bound) / static_cast<double>(r.time);
  };
  EXPECT_LT(share(Algorithm::kRing, "ring", 8), 0.51);
  EXPECT_GT(share(Algorithm::kBidirectionalRing, "ring", 8), 0.98);
  EXPECT_GT(share(Algorithm::kBidirectionalRing, "ring", 16), 0.95);
  EXPECT_LT(share(Algorithm::kTorus2d, "torus:4x4", 0), 0.26);
  EXPECT_GT(share(Algorithm::kBidirectionalTorus, "torus:4x4", 0), 0.97);
  EXPECT_GT(share(Algorithm::kBidirectionalTorus, "torus:8x8", 0), 0.93);
}

TEST(Collective, ReportsBandwidthByConvention) {
  const Topology topology = on("ring", 8);
  const auto run = [&](Collective collective) {
    return simulate_collective({.collective = collective, .bytes = 1 << 20}, topology);
  };
  const CollectiveResult reduce = run(Collective::kAllReduce);
  EXPECT_DOUBLE_EQ(reduce.algbw, 1048576 / to_seconds(reduce.time));
  EXPECT_DOUBLE_EQ(reduce.busbw, reduce.algbw * 2 * 7 / 8);
  const CollectiveResult gather = run(Collective::kAllGather);  // the argument is a shard
  EXPECT_DOUBLE_EQ(gather.algbw, 8 * 1048576 / to_seconds(gather.time));
  EXPECT_DOUBLE_EQ(gather.busbw, gather.algbw * 7 / 8);
  EXPECT_EQ(reduce.messages.size(), 8u * 14);
  EXPECT_EQ(reduce.bytes_sent, 8 * 14 * (1 << 20) / 8);
  const Json json = to_json(reduce);
  for (const char* key : {"time_ns", "algbw", "busbw", "bound_ns", "events", "topology_hash"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
}

TEST(Collective, IsTheSameEveryTime) {
  const Topology topology = on("torus:3x4");
  for (const auto contention : kEveryContention) {
    for (const Algorithm algorithm : kEveryAlgorithm) {
      const CollectiveOptions options{
          .algorithm = algorithm, .bytes = 4 * 1003, .contention = contention};
      const auto a = simulate_collective(options, topology);
      const auto b = simulate_collective(options, topology);
      EXPECT_EQ(canonical_json(to_json(a)), canonical_json(to_json(b)));
      EXPECT_EQ(a.results, b.results);
    }
  }
}

TEST(Collective, RefusesNonsense) {
  const Topology topology = on("ring", 6);
  EXPECT_THROW(simulate_collective({.bytes = 0}, topology), UserError);
  EXPECT_THROW(simulate_collective({.bytes = 7}, topology), UserError);  // not whole floats
  EXPECT_THROW(simulate_collective({.bytes = 8, .splits = 0}, topology), UserError);
  EXPECT_THROW(simulate_collective({.bytes = std::int64_t{1} << 60}, topology), UserError);
  EXPECT_THROW(simulate_collective({.algorithm = Algorithm::kHierarchical, .bytes = 64, .group = 4},
                                   topology),
               UserError);
  EXPECT_THROW(simulate_collective({.collective = Collective::kAllToAll,
                                    .algorithm = Algorithm::kDoubleBinaryTree,
                                    .bytes = 64},
                                   topology),
               UserError);
  EXPECT_THROW(simulate_collective({.bytes = 1 << 28, .every_element = true}, topology), UserError);
  EXPECT_THROW(parse_collective("allreduce"), UserError);
  EXPECT_THROW(parse_algorithm("Ring"), UserError);
  EXPECT_THROW(parse_contention("lossy"), UserError);
}

}  // namespace
}  // namespace assay::chip
