// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/test_attention.h"
#include "chip/collective.h"

namespace assay::chip {
namespace {

constexpr Variant kVariantColumns[] = {Variant::kRefRef, Variant::kLoadRef, Variant::kLoadLoad};

TEST(SimulateGemm, EndsWhenItIsWantedNoMore) {
  const auto topology = default_topology();
  const GemmOptions options{.shape = {1024, 1024, 1024}};  // more events than lie between two looks
  const auto expected = simulate_gemm(options, topology).metrics.window.length();
  {
    const Unwanted unwanted;
    EXPECT_THROW(simulate_gemm(options, topology), Unwanted::Ended);
  }
  EXPECT_EQ(simulate_gemm(options, topology).metrics.window.length(), expected);
}

TEST(SimulateGemm, EqualsTheOracleToThePicosecond) {
  // HBM 256 GB/s, 4096 MAC/ns, fetch 512 GB/s, 2-byte elements, padded tiles: ns and percent.
  struct Row {
    GemmShape shape;
    std::int64_t tiles;
    std::int64_t ns[3];
    double utilisation[2], efficiency[2];
  };
  const Row rows[] = {
      {{16, 16, 16}, 1, {72, 56, 40}, {22.2, 28.6}, {1.39, 1.79}},
      {{32, 64, 32}, 1, {72, 56, 40}, {22.2, 28.6}, {22.2, 28.6}},
      {{32, 3072, 32}, 48, {1576, 808, 792}, {48.7, 95.0}, {48.7, 95.0}},
      {{100, 130, 70}, 36, {1192, 616, 600}, {48.3, 93.5}, {18.6, 36.1}},
      {{256, 256, 256}, 256, {8232, 4136, 4120}, {49.8, 99.0}, {49.8, 99.0}},
      {{512, 512, 512}, 2048, {65576, 32808, 32792}, {50.0, 99.9}, {50.0, 99.9}},
  };
  const Topology topology = default_topology();
  for (const Row& row : rows) {
    for (int v = 0; v < 3; ++v) {
      const GemmResult result =
          simulate_gemm({.shape = row.shape, .variant = kVariantColumns[v]}, topology);
      EXPECT_EQ(result.metrics.window.length(), row.ns[v] * kNanosecond)
          << to_string(row.shape) << " " << name_of(kVariantColumns[v]);
      EXPECT_EQ(result.closed_form.time, row.ns[v] * kNanosecond);
      EXPECT_TRUE(result.closed_form.exact) << result.closed_form.why_not_exact;
      EXPECT_EQ(result.tiles, row.tiles);
      if (v == 2) continue;
      // The table has three digits.
      EXPECT_NEAR(100 * result.metrics.mac_utilisation, row.utilisation[v], 0.05);
      EXPECT_NEAR(100 * result.metrics.useful_efficiency, row.efficiency[v], 0.05);
    }
  }
}

TEST(SimulateGemm, PaddingIsCountedNotFlagged) {
  const Topology topology = default_topology();
  const auto padded = [&](GemmShape shape) {
    return simulate_gemm({.shape = shape}, topology).metrics.padded_fraction;
  };
  EXPECT_EQ(padded({32, 64, 32}), 0);
  EXPECT_DOUBLE_EQ(padded({33, 64, 32}), 31.0 / 64);
  EXPECT_DOUBLE_EQ(padded({1, 1, 1}), 1 - 1.0 / (32 * 64 * 32));
}

TEST(SimulateGemm, TheLoadHasAWindowOfItsOwn) {
  const GemmResult result = simulate_gemm({.shape = {64, 128, 96}}, default_topology());
  // A is 2 x 2 tiles of 16 ns each.
  EXPECT_EQ(result.closed_form.load, 64 * kNanosecond);
  const auto without = window_of(result.log, {});
  const auto with = window_of(result.log, {WindowKind::kComposite, true, 0});
  EXPECT_EQ(with.begin, 0);
  EXPECT_EQ(without.begin, 64 * kNanosecond);
  EXPECT_EQ(with.end, without.end);
  EXPECT_EQ(window_of(result.log, {WindowKind::kPe, false, 0}).length(), without.length());
  EXPECT_EQ(name_of(with.options), "composite+load");
}

TEST(SimulateGemm, MulticastReadsEachTileOnce) {
  Topology topology = default_topology();
  topology.pe.rows = 4;
  topology.pe.columns = 2;
  const GemmOptions plain{.shape = {256, 256, 256}, .variant = Variant::kLoadRef};
  GemmOptions shared = plain;
  shared.multicast = 4;
  const GemmResult a = simulate_gemm(plain, topology), b = simulate_gemm(shared, topology);
  EXPECT_EQ(a.metrics[Stage::kDmaIn].bytes, 4 * b.metrics[Stage::kDmaIn].bytes);
  EXPECT_EQ(a.metrics[Stage::kFetch].bytes, b.metrics[Stage::kFetch].bytes);
  EXPECT_LT(b.metrics.window.length(), a.metrics.window.length());
}

// Two elements, of which one has work and sits at the memory's own port: a group of one, with no
// link between, waits for memory like anybody else.
TEST(SimulateGemm, AGroupAtThePortWaitsForMemoryToo) {
  auto topology = default_topology();
  topology.pe.rows = 2;
  for (const auto variant : {Variant::kLoadLoad, Variant::kLoadRef, Variant::kRefRef}) {
    GemmOptions alone{.shape = {5, 130, 200}, .variant = variant};
    GemmOptions group = alone;
    group.multicast = 2;
    const auto one = simulate_gemm(alone, topology), other = simulate_gemm(group, topology);
    EXPECT_EQ(one.end_to_end, other.end_to_end);
    EXPECT_EQ(one.metrics.window.length(), other.metrics.window.length());
  }
}

TEST(SimulateGemm, RowMajorTilesWasteBursts) {
  Topology topology = default_topology();
  const GemmOptions options{.shape = {256, 256, 256}, .variant = Variant::kRefRef};
  const auto contiguous = simulate_gemm(options, topology).metrics[Stage::kDmaIn].bytes;
  topology.hbm.layout = Layout::kRowMajor;
  const auto rows = simulate_gemm(options, topology).metrics[Stage::kDmaIn].bytes;
  // Rows of 128 B (A) use half of a burst of 256 B, rows of 64 B (B) a quarter.
  EXPECT_EQ(rows, contiguous / 2 * 2 + contiguous / 2 * 4);
}

TEST(SimulateGemm, SharedChannelsPayTheTurnaround) {
  Topology topology = default_topology();
  const GemmOptions options{.shape = {128, 64, 128}, .variant = Variant::kRefRef};
  const Time separate = simulate_gemm(options, topology).metrics.window.length();
  topology.hbm.separate_write_path = false;
  const Time shared = simulate_gemm(options, topology).metrics.window.length();
  topology.hbm.turnaround = 5 * kNanosecond;
  const Time turning = simulate_gemm(options, topology).metrics.window.length();
  EXPECT_LT(separate, shared);
  EXPECT_LT(shared, turning);
}

// Two queue slots share one memory: half of the time a request waits because memory is busy, and
// not for want of a buffer.
TEST(SimulateGemm, WaitingForBusyMemoryIsToldApart) {
  const GemmResult streams =
      simulate_gemm({.shape = {512, 512, 512}, .variant = Variant::kRefRef}, default_topology());
  const StageMetrics& in = streams.metrics[Stage::kDmaIn];
  EXPECT_GT(static_cast<double>(in.queued), 0.99 * static_cast<double>(in.blocked));
  EXPECT_EQ(streams.use.channel_read, streams.end_to_end - 16 * kNanosecond * 2 - 8 * kNanosecond);
  Topology one = default_topology();
  one.pe.buffer_depth = 1;
  const GemmResult held = simulate_gemm({.shape = {512, 512, 512}}, one);
  EXPECT_EQ(held.metrics[Stage::kDmaIn].queued, 0);
  EXPECT_GT(held.metrics[Stage::kDmaIn].blocked, 0);
}

TEST(SimulateGemm, WindowsHaveNames) {
  for (const char* name : {"composite", "composite+load", "pe:0", "pe:3+load"}) {
    EXPECT_EQ(name_of(parse_window(name, 4)), name);
  }
  EXPECT_EQ(parse_window("pe", 1).kind, WindowKind::kPe);
  for (const char* wrong : {"", "pe:4", "pe:-1", "pe:x", "pe:", "all", "composite+"}) {
    EXPECT_THROW(parse_window(wrong, 4), UserError) << wrong;
  }
}

TEST(SimulateGemm, RefusesWhatDoesNotFit) {
  const Topology topology = default_topology();
  try {
    simulate_gemm({.shape = {2048, 2048, 2048}, .variant = Variant::kLoadLoad}, topology);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(),
                 "pe.sram_bytes: load_load of 2048x2048x2048 needs 16781312 bytes in processing "
                 "element 0, the chip has 4194304");
  }
  EXPECT_THROW(simulate_gemm({.shape = {64, 64, 64}, .multicast = 2}, topology), UserError);
  EXPECT_THROW(simulate_gemm({.shape = {64, 64, 64}, .multicast = 0}, topology), UserError);
  EXPECT_THROW(simulate_gemm({.shape = {1 << 20, 1 << 20, 64}}, topology), UserError);
  EXPECT_THROW(parse_variant("load"), UserError);
  EXPECT_THROW(parse_loop_order("kk"), UserError);
  for (const char* bad : {"", "1x2", "1x2x", "1x2x3x4", "0x1x1", "-1x1x1", "axbxc", "1 x2x3"}) {
    EXPECT_THROW(parse_gemm_shape(bad), UserError) << bad;
  }
  EXPECT_EQ(parse_gemm_shape("3x4x5"), (GemmShape{3, 4, 5}));
}

TEST(SimulateGemm, JsonHasWhatTheCommandLinePromises) {
  const Json json = to_json(simulate_gemm({.shape = {256, 256, 256}}, default_topology()));
  EXPECT_EQ(json["time_ns"], 4136.0);
  EXPECT_EQ(json["closed_form_ns"], 4136.0);
  EXPECT_EQ(json["window"], "composite");
  for (const char* key : {"mac_utilisation", "useful_efficiency", "padded_fraction", "events",
                          "topology_hash", "topology", "engine_version", "seed"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  for (const char* stage : {"dma_in", "fetch", "gemm", "dma_out"}) {
    for (const char* key : {"records", "busy_ns", "blocked_ns", "starved_ns", "bytes"}) {
      EXPECT_TRUE(json["stages"][stage].contains(key)) << stage << " " << key;
    }
  }
  EXPECT_EQ(json["stages"]["gemm"]["records"], 256);
  EXPECT_EQ(json["stages"]["gemm"]["busy_ns"], 4096.0);
}

}  // namespace
}  // namespace assay::chip
