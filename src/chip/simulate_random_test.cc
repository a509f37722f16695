// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Random products on random chips: what holds of all of them.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json.h"
#include "chip/gemm/test_random.h"
#include "chip/simulate.h"

namespace assay::chip {
namespace {

// A chip on which simulation must equal the closed form.
Topology ideal_chip(Random& random) {
  Topology t = default_topology();
  t.hbm.channels = random.between(1, 8);
  t.hbm.burst_bytes = random.pick<std::int64_t>({32, 64, 96, 256});
  t.hbm.channel = Rate(random.between(1'000'000'000, 90'000'000'000));
  t.hbm.refresh_share = random.pick({0.0, 0.0, 0.07});
  t.tile = {random.between(1, 12), random.between(1, 12), random.between(1, 12), 1};
  t.tile.element_bytes = t.hbm.channels * t.hbm.burst_bytes;  // every tile fills all channels
  t.pe.fetch = Rate(random.between(1'000'000'000, 2'000'000'000'000));
  t.mac.rate = Rate(random.between(1'000'000, 5'000'000'000));
  t.mac.kind = random.pick({MacKind::kRate, MacKind::kRate, MacKind::kSystolic});
  t.mac.dataflow = random.pick({Dataflow::kOutputStationary, Dataflow::kWeightStationary});
  t.pe.buffer_depth = random.between(1, 6);
  t.pe.buffer_release = random.pick({BufferRelease::kGemm, BufferRelease::kFetch});
  t.pe.output_buffers = random.pick<std::int64_t>({2, 3, 1000});
  t.pe.sram_bytes = std::int64_t{1} << 40;
  t.dma.queues = random.between(1, 4);
  t.hbm.turnaround = random.between(0, 9000);  // separate paths: never taken
  return t;
}

TEST(SimulateGemm, EqualsTheClosedFormOnIdealChips) {
  Random random(23);
  int exact = 0;
  for (int round = 0; round < 600; ++round) {
    const Topology topology = ideal_chip(random);
    const GemmOptions options{
        .shape = {random.between(1, 50), random.between(1, 50), random.between(1, 50)},
        .variant = random.pick({Variant::kRefRef, Variant::kLoadRef, Variant::kLoadLoad}),
        .order = random.pick({LoopOrder::kMnk, LoopOrder::kNmk})};
    const GemmResult result = simulate_gemm(options, topology);
    const Time simulated = result.metrics.window.length();
    if (result.closed_form.exact) {
      ++exact;
      ASSERT_EQ(simulated, result.closed_form.time)
          << to_string(options.shape) << " " << name_of(options.variant) << " "
          << canonical_json(result.topology.to_json());
    } else {
      ASSERT_GE(simulated, result.bounds.best());
    }
  }
  EXPECT_GE(exact, 400);
}

// A chip with everything that makes simulation differ from formulas.
Topology contended_chip(Random& random) {
  Topology t = default_topology();
  t.pe.rows = random.between(1, 4);
  t.pe.columns = random.between(1, 4);
  t.pe.buffer_depth = random.between(1, 6);
  t.pe.output_buffers = random.between(1, 4);
  t.pe.buffer_release = random.pick({BufferRelease::kGemm, BufferRelease::kFetch});
  t.pe.sram_bytes = std::int64_t{1} << 40;
  t.pe.fetch = Rate(random.between(50, 900) * 1'000'000'000);
  t.dma.queues = random.between(1, 4);
  t.dma.setup = random.pick<Time>({0, 0, 1500, 20'000});
  t.hbm.channels = random.between(1, 9);
  t.hbm.turnaround = random.between(0, 20'000);
  t.hbm.refresh_share = random.pick({0.0, 0.05});
  t.hbm.separate_write_path = random.coin();
  t.hbm.layout = random.pick({Layout::kTileContiguous, Layout::kRowMajor});
  t.noc.hop = random.between(0, 5000);
  t.noc.link = Rate(random.between(20, 400) * 1'000'000'000);
  t.noc.memory_ports.clear();
  for (std::int64_t port = random.between(1, 3); port > 0; --port) {
    t.noc.memory_ports.push_back(
        {random.between(0, t.pe.rows - 1), random.between(0, t.pe.columns - 1)});
  }
  t.mac.kind = random.pick({MacKind::kRate, MacKind::kSystolic});
  return t;
}

GemmOptions random_gemm(Random& random, const Topology& t) {
  return {.shape = {random.between(1, 260), random.between(1, 300), random.between(1, 260)},
          .variant = random.pick({Variant::kRefRef, Variant::kLoadRef, Variant::kLoadLoad}),
          .order = random.pick({LoopOrder::kMnk, LoopOrder::kNmk, LoopOrder::kMkn, LoopOrder::kNkm,
                                LoopOrder::kKmn, LoopOrder::kKnm}),
          .multicast = random.between(1, t.pe.rows)};
}

void check_log(const GemmResult& result, const Topology& topology) {
  const OpLog& log = result.log;
  std::int64_t read = 0, written = 0;
  std::map<std::tuple<std::int32_t, Stage, std::int32_t>, Time> free_at;
  std::map<std::int64_t, int> fetched, multiplied;
  for (std::size_t i = 0; i < log.ops.size(); ++i) {
    const OpRecord& op = log.ops[i];
    ASSERT_EQ(op.id, static_cast<OpId>(i));
    ASSERT_LE(op.t_request, op.t_grant);
    ASSERT_LE(op.t_grant, op.t_end);
    if (i > 0) {
      ASSERT_GE(op.t_end, log.ops[i - 1].t_end);
    }
    for (const OpId before : op.dependencies) {
      if (before == kNoOp) continue;
      ASSERT_LT(before, op.id);
      ASSERT_LE(log.ops[static_cast<std::size_t>(before)].t_end, op.t_grant);
    }
    // An engine slot serves one op at a time.
    Time& free = free_at[{op.pe, op.stage, op.slot}];
    ASSERT_GE(op.t_grant, free);
    free = op.t_end;
    if (op.stage == Stage::kDmaIn) read += op.bytes;
    if (op.stage == Stage::kDmaOut) written += op.bytes;
    if (op.stage == Stage::kFetch) ++fetched[op.tile];
    if (op.stage == Stage::kGemm) ++multiplied[op.tile];
  }
  // Every tile is fetched and multiplied exactly once; bytes in are bytes planned.
  ASSERT_EQ(static_cast<std::int64_t>(fetched.size()), result.tiles);
  ASSERT_EQ(fetched, multiplied);
  for (const auto& [tile, count] : fetched) ASSERT_EQ(count, 1) << tile;
  ASSERT_EQ(read, result.planned_read_bytes);
  ASSERT_EQ(written, result.planned_write_bytes);
  const auto& shape = result.options.shape;
  ASSERT_EQ(result.metrics.useful_macs, shape.m * shape.k * shape.n);

  for (const bool with_load : {false, true}) {
    const GemmMetrics metrics = measure(log, topology, {WindowKind::kComposite, with_load, 0});
    const Time window = metrics.window.length();
    for (const Stage stage : kStages) {
      ASSERT_EQ(metrics[stage].busy + metrics[stage].blocked + metrics[stage].starved,
                metrics[stage].slots * window);
      for (std::int32_t pe = 0; pe < log.pes; ++pe) {
        for (std::int32_t slot = 0; slot < log.slots(stage); ++slot) {
          const SlotTime time = slot_time(log, metrics.window, pe, stage, slot);
          ASSERT_EQ(time.busy + time.blocked + time.starved, window);
        }
      }
    }
    ASSERT_GE(window, critical_path(log, metrics.window.options));
    ASSERT_GE(window, result.bounds.best());
  }
}

TEST(SimulateGemm, KeepsBoundsAndBooksOnContendedChips) {
  Random random(37);
  for (int round = 0; round < 250; ++round) {
    const Topology topology = contended_chip(random);
    const GemmOptions options = random_gemm(random, topology);
    const GemmResult result = simulate_gemm(options, topology);
    check_log(result, topology);
    if (HasFatalFailure()) {
      FAIL() << canonical_json(to_json(result));
    }
  }
}

TEST(SimulateGemm, GivesTheSameLogAgainAndOnAnyThread) {
  std::vector<std::pair<GemmOptions, Topology>> points;
  Random random(41);
  for (int i = 0; i < 12; ++i) {
    const Topology topology = contended_chip(random);
    points.emplace_back(random_gemm(random, topology), topology);
  }
  const auto run_all = [&](unsigned threads) {
    std::vector<std::string> logs(points.size());
    std::vector<std::thread> workers;
    for (unsigned w = 0; w < threads; ++w) {
      workers.emplace_back([&, w] {
        for (std::size_t i = w; i < points.size(); i += threads) {
          logs[i] = to_csv(simulate_gemm(points[i].first, points[i].second).log);
        }
      });
    }
    for (auto& worker : workers) worker.join();
    return logs;
  };
  const auto once = run_all(1);
  EXPECT_GT(once[0].size(), 1000u);
  EXPECT_EQ(run_all(1), once);
  EXPECT_EQ(run_all(3), once);
  EXPECT_EQ(run_all(4), once);
}

}  // namespace
}  // namespace assay::chip
