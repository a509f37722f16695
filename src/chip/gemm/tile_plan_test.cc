// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/gemm/tile_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "base/error.h"

namespace assay::chip {
namespace {

constexpr LoopOrder kEveryOrder[] = {LoopOrder::kMnk, LoopOrder::kNmk, LoopOrder::kMkn,
                                     LoopOrder::kNkm, LoopOrder::kKmn, LoopOrder::kKnm};

TEST(TilePlan, EveryTileOnceAndOutputsAfterTheLastK) {
  const Topology topology = with_grid(default_topology(), 2, 3);
  for (const LoopOrder order : kEveryOrder) {
    const GemmPlan plan = plan_gemm({.shape = {100, 200, 130}, .order = order}, topology);
    EXPECT_EQ(plan.tiles(), 4 * 4 * 5);
    std::set<std::int64_t> seen;
    for (std::size_t id = 0; id < plan.pes.size(); ++id) {
      std::map<std::pair<int, int>, int> next_k;
      std::int64_t open = 0, most_open = 0;
      for (const TileStep& step : plan.pes[id].steps) {
        EXPECT_TRUE(seen.insert(plan.tile_index(step)).second);
        EXPECT_EQ(step.i % 2 * 3 + step.j % 3, static_cast<int>(id));
        EXPECT_EQ(step.k, (next_k[{step.i, step.j}]++));  // K steps of an output in order
        EXPECT_EQ(step.first_k, step.k == 0);
        EXPECT_EQ(step.last_k, step.k == 3);
        open += step.first_k ? 1 : 0;
        most_open = std::max(most_open, open);
        open -= step.last_k ? 1 : 0;
      }
      EXPECT_EQ(most_open, plan.pes[id].open_outputs) << name_of(order);
    }
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), plan.tiles());
    EXPECT_EQ(plan.useful_macs, 100 * 200 * 130);
    EXPECT_EQ(plan.macs, plan.tiles() * 32 * 64 * 32);
  }
}

TEST(TilePlan, BytesFollowTheVariant) {
  const Topology topology = default_topology();
  const GemmShape shape{64, 128, 96};  // 2 x 2 x 3 tiles of 4096 B, outputs of 2048 B
  const auto plan = [&](Variant variant) {
    return plan_gemm({.shape = shape, .variant = variant}, topology);
  };
  EXPECT_EQ(plan(Variant::kRefRef).load_bytes, 0);
  EXPECT_EQ(plan(Variant::kRefRef).stream_bytes, 12 * 8192);
  EXPECT_EQ(plan(Variant::kLoadRef).load_bytes, 4 * 4096);
  EXPECT_EQ(plan(Variant::kLoadRef).stream_bytes, 12 * 4096);
  EXPECT_EQ(plan(Variant::kLoadLoad).load_bytes, (4 + 6) * 4096);
  EXPECT_EQ(plan(Variant::kLoadLoad).stream_bytes, 0);
  EXPECT_EQ(plan(Variant::kLoadLoad).write_bytes, 6 * 2048);
  // Panels, four buffers, two outputs.
  EXPECT_EQ(plan(Variant::kLoadRef).pes[0].sram_bytes, 4 * 4096 + 4 * 4096 + 2 * 2048);
}

TEST(TilePlan, MulticastGroupsAreNeighboursInAColumn) {
  Topology topology = with_grid(default_topology(), 3, 2);
  // Five row tiles on three grid rows: the third has one pass only.
  const GemmPlan plan =
      plan_gemm({.shape = {160, 64, 64}, .variant = Variant::kLoadRef, .multicast = 3}, topology);
  std::map<std::size_t, int> sizes;
  for (const auto& round : plan.rounds) {
    ++sizes[round.members.size()];
    for (std::size_t m = 1; m < round.members.size(); ++m) {
      EXPECT_EQ(round.members[m], round.members[m - 1] + 2);
    }
  }
  // Per column one B tile in each of two passes: all three members, then two.
  EXPECT_EQ(sizes, (std::map<std::size_t, int>{{2, 2}, {3, 2}}));
  EXPECT_EQ(plan.stream_bytes, 4 * 4096);
}

TEST(TilePlan, MoreElementsThanTilesLeaveSomeIdle) {
  const GemmPlan plan = plan_gemm({.shape = {1, 1, 1}}, with_grid(default_topology(), 2, 2));
  EXPECT_EQ(plan.pes[0].steps.size(), 1u);
  for (std::size_t id = 1; id < 4; ++id) {
    EXPECT_TRUE(plan.pes[id].steps.empty());
    EXPECT_TRUE(plan.pes[id].loads.empty());
  }
}

TEST(TilePlan, RefusesTooMuch) {
  Topology topology = default_topology();
  topology.hbm.burst_bytes = 1;
  topology.tile.element_bytes = 4096;
  topology.pe.sram_bytes = std::int64_t{1} << 50;
  EXPECT_THROW(plan_gemm({.shape = {4096, 4096, 4096}}, topology), UserError);
  EXPECT_THROW(with_grid(default_topology(), 0, 1), UserError);
  EXPECT_THROW(with_grid(default_topology(), 1 << 20, 1 << 20), UserError);
  topology.noc.memory_ports = {{3, 3}};
  EXPECT_THROW(with_grid(topology, 2, 2), UserError);
}

}  // namespace
}  // namespace assay::chip
