// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Memory map, pseudo-channels and the mesh, each by itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "chip/gemm/hbm.h"
#include "chip/gemm/memory_map.h"
#include "chip/network/noc.h"

namespace assay::chip {
namespace {

using ::testing::ElementsAre;

std::vector<std::int64_t> bursts_of(const Block& block) {
  std::vector<std::int64_t> out;
  for_each_burst(block, 256, [&](std::int64_t burst) { out.push_back(burst); });
  EXPECT_EQ(static_cast<std::int64_t>(out.size()), burst_count(block, 256));
  return out;
}

TEST(MemoryMap, CountsTheBurstsThatRunsTouch) {
  EXPECT_THAT(bursts_of({0, 256, 256, 1}), ElementsAre(0));
  EXPECT_THAT(bursts_of({255, 2, 2, 1}), ElementsAre(0, 1));
  EXPECT_THAT(bursts_of({256, 1, 1, 1}), ElementsAre(1));
  EXPECT_THAT(bursts_of({0, 128, 512, 3}), ElementsAre(0, 2, 4));
  EXPECT_THAT(bursts_of({0, 128, 128, 4}), ElementsAre(0, 1));  // touching runs are one
  EXPECT_THAT(bursts_of({192, 128, 256, 2}), ElementsAre(0, 1, 1, 2));
}

TEST(MemoryMap, TilesDoNotOverlap) {
  for (const Layout layout : {Layout::kTileContiguous, Layout::kRowMajor}) {
    Topology topology = default_topology();
    topology.hbm.layout = layout;
    topology.tile = {3, 5, 7, 2};
    const MemoryMap map({10, 11, 12}, topology);  // 4 x 3 x 2 tiles
    std::set<std::int64_t> bytes;
    std::int64_t total = 0;
    const auto take = [&](const Block& block) {
      for (std::int64_t row = 0; row < block.rows; ++row) {
        for (std::int64_t b = 0; b < block.row_bytes; ++b) {
          EXPECT_TRUE(bytes.insert(block.address + row * block.stride + b).second);
        }
      }
      total += block.bytes();
    };
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < 3; ++k) take(map.a_tile(i, k));
      for (int j = 0; j < 2; ++j) take(map.c_tile(i, j));
    }
    for (int k = 0; k < 3; ++k) {
      for (int j = 0; j < 2; ++j) take(map.b_tile(k, j));
    }
    if (layout == Layout::kRowMajor) {
      EXPECT_EQ(total, 2 * (10 * 11 + 11 * 12 + 10 * 12));
    }
    // A panel is its tiles.
    std::int64_t panel = 0;
    for (int k = 0; k < 3; ++k) panel += map.a_tile(3, k).bytes();
    EXPECT_EQ(map.a_panel(3).bytes(), panel);
    panel = 0;
    for (int k = 0; k < 3; ++k) panel += map.b_tile(k, 1).bytes();
    EXPECT_EQ(map.b_panel(1).bytes(), panel);
  }
}

TEST(Hbm, ChannelsServeInTurn) {
  Hbm hbm(default_topology().hbm);  // 8 channels, 8 ns a burst
  EXPECT_EQ(hbm.serve(0, Direction::kRead, 0).end, 8 * kNanosecond);
  EXPECT_EQ(hbm.serve(1, Direction::kRead, 0).end, 8 * kNanosecond);
  EXPECT_EQ(hbm.serve(8, Direction::kRead, 0).end, 16 * kNanosecond);
  EXPECT_EQ(hbm.serve(16, Direction::kRead, 20 * kNanosecond).start, 20 * kNanosecond);
  EXPECT_EQ(hbm.serve(0, Direction::kWrite, 0).end, 8 * kNanosecond);  // a path of its own
}

TEST(Hbm, SharedChannelsTurnAround) {
  HbmTopology topology = default_topology().hbm;
  topology.separate_write_path = false;
  topology.turnaround = 5 * kNanosecond;
  Hbm hbm(topology);
  EXPECT_EQ(hbm.serve(0, Direction::kWrite, 0).start, 0);  // the first has nothing to turn from
  EXPECT_EQ(hbm.serve(0, Direction::kWrite, 0).start, 8 * kNanosecond);
  EXPECT_EQ(hbm.serve(0, Direction::kRead, 0).start, (16 + 5) * kNanosecond);
  EXPECT_EQ(hbm.serve(1, Direction::kRead, 0).start, 0);
}

// A 3 x 3 mesh with memory at a corner, links of 128 GB/s (2 ns a burst) and hops of 1 ns.
Topology slow_mesh() {
  Topology topology = with_grid(default_topology(), 3, 3);
  topology.noc.link = Rate(128'000'000'000);
  topology.noc.hop = kNanosecond;
  return topology;
}

TEST(Noc, MulticastForksAtRouters) {
  Simulator sim;
  Noc noc(sim, slow_mesh());
  // Members 2 (row 0), 5 and 8 (rows 1, 2 of the same column): the row is shared, then the column.
  const std::array<std::int32_t, 3> members = {2, 5, 8};
  const DeliveryTree& tree = noc.trees_to(members)[0];
  EXPECT_EQ(tree.branches.size(), 5u);  // the port, 1, 2, 5, 8
  std::vector<Latch> latches;
  for (int i = 0; i < 3; ++i) latches.emplace_back(sim);
  const std::array<Latch*, 3> arrived = {&latches[0], &latches[1], &latches[2]};
  EXPECT_FALSE(noc.deliver(tree, 10 * kNanosecond, arrived));
  sim.run();
  // The head takes a nanosecond a hop, the tail two more.
  EXPECT_EQ(latches[0].opened_at(), (10 + 2 + 2) * kNanosecond);
  EXPECT_EQ(latches[1].opened_at(), (10 + 3 + 2) * kNanosecond);
  EXPECT_EQ(latches[2].opened_at(), (10 + 4 + 2) * kNanosecond);
}

TEST(Noc, PacketsQueueOnASharedLink) {
  Simulator sim;
  Noc noc(sim, slow_mesh());
  const std::array<std::int32_t, 1> one = {1}, two = {2};
  Latch first(sim), second(sim);
  const std::array<Latch*, 1> to_first = {&first}, to_second = {&second};
  noc.deliver(noc.trees_to(one)[0], 0, to_first);
  noc.deliver(noc.trees_to(two)[0], 0, to_second);
  sim.run();
  EXPECT_EQ(first.opened_at(), (1 + 2) * kNanosecond);
  EXPECT_EQ(second.opened_at(),
            (2 + 2 + 2) * kNanosecond);  // waits two for the link, then two hops
}

TEST(Noc, TheElementAtThePortNeedsNoLink) {
  Simulator sim;
  Noc noc(sim, slow_mesh());
  const std::array<std::int32_t, 1> here = {0};
  Latch latch(sim);
  const std::array<Latch*, 1> arrived = {&latch};
  EXPECT_TRUE(noc.deliver(noc.trees_to(here)[0], 0, arrived));
  EXPECT_EQ(noc.latency(0, 0), 0);
  EXPECT_EQ(noc.latency(8, 0), 4 * kNanosecond);
}

}  // namespace
}  // namespace assay::chip
