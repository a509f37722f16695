// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/replay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/process.h"

namespace assay::cases::chip {
namespace {

namespace ch = assay::chip;

ch::Topology network(const char* shape, std::int64_t ranks) {
  auto topology = ch::default_topology();
  topology.network = ch::parse_network(shape, ranks, topology.network);
  return topology;
}

// Real ranks on this machine: the sums, and as many messages as the simulator logs.
TEST(ReplayTest, OpenMpiRanksGetTheSumsWithTheSimulatedMessages) {
  for (const auto algorithm :
       {ch::Algorithm::kRing, ch::Algorithm::kRecursiveDoubling, ch::Algorithm::kHalvingDoubling,
        ch::Algorithm::kDoubleBinaryTree, ch::Algorithm::kDirect}) {
    for (const std::int64_t ranks : {2, 5, 8}) {
      const auto topology = network("fully_connected", ranks);
      // 1001 elements: no number of ranks here divides them.
      const ch::CollectiveOptions options{
          .algorithm = algorithm, .bytes = 8 * 1001, .element_bytes = 8};
      const auto replay = replay_by_mpirun(options, topology.network, ASSAY_CHIP_REPLAY_MPI);
      const auto simulated = ch::simulate_collective(options, topology);
      EXPECT_EQ(replay.wrong, 0) << ch::name_of(algorithm) << " " << ranks;
      EXPECT_EQ(replay.messages, static_cast<std::int64_t>(simulated.messages.size()))
          << ch::name_of(algorithm) << " " << ranks;
      EXPECT_TRUE(simulated.verified);
    }
  }
}

// SimGrid's flow model and ours agree where neither has contention to share out: then a message
// takes latency + bytes / bandwidth in both. Ours rounds each duration up to a picosecond; SimGrid
// computes in doubles and stops a flow within its precision of 1e-9 s: for s steps in a row the
// times may differ by s (1e-9 s + 1 ps).
TEST(ReplayTest, SimGridTakesAsLongWhereNothingContends) {
  if (!find_program("smpirun") || !std::filesystem::exists(ASSAY_CHIP_SMPI)) {
    GTEST_SKIP() << "SimGrid (libsimgrid-dev) is not installed";
  }
  struct Item {
    ch::Algorithm algorithm;
    const char* shape;
    std::int64_t ranks;
    int steps;
  };
  for (const Item& item :
       {Item{ch::Algorithm::kRing, "ring", 4, 6}, Item{ch::Algorithm::kRing, "ring", 8, 14},
        Item{ch::Algorithm::kHalvingDoubling, "fully_connected", 8, 6},
        Item{ch::Algorithm::kRecursiveDoubling, "fully_connected", 8, 3}}) {
    for (const std::int64_t bytes : {1 << 10, 1 << 16, 1 << 20}) {
      auto topology = network(item.shape, item.ranks);
      topology.network.endpoint = 0;  // MPI has none
      const ch::CollectiveOptions options{
          .algorithm = item.algorithm, .bytes = bytes, .element_bytes = 8};
      const auto replay = replay_in_simgrid(options, topology.network, ASSAY_CHIP_SMPI);
      const auto simulated = ch::simulate_collective(options, topology);
      EXPECT_EQ(replay.wrong, 0);
      EXPECT_EQ(replay.messages, static_cast<std::int64_t>(simulated.messages.size()));
      EXPECT_NEAR(replay.seconds, 1e-12 * static_cast<double>(simulated.time),
                  item.steps * 1.001e-9)
          << ch::name_of(item.algorithm) << " on " << item.shape << ", " << bytes << " bytes";
    }
  }
}

}  // namespace
}  // namespace assay::cases::chip
