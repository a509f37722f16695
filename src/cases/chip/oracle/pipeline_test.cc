// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/oracle/pipeline.h"

#include <gtest/gtest.h>

#include <array>

namespace assay::cases::chip {
namespace {

constexpr Ps kNs = 1000;

// HBM 256 GB/s, 4096 MAC/ns, fetch 512 GB/s, tiles of 32×64×32, two bytes.
ChipNumbers known_chip() {
  ChipNumbers c;
  c.buffers = 4;
  c.outputs = c.queues = 2;
  c.m = c.n = 32;
  c.k = 64;
  c.element_bytes = 2;
  c.channels = 8;
  c.burst_bytes = 256;
  c.burst = duration(256, 32);
  c.fetch = duration(c.a_bytes() + c.b_bytes(), 512);
  c.macs_per_ns = 4096;
  c.gemm = duration(32 * 64 * 32, 4096);
  c.array_rows = c.array_columns = 32;
  return c;
}

// Times in ns that were worked out by hand, without the up-front load.
TEST(PipelineOracleTest, KnownTimes) {
  struct Known {
    std::array<std::int64_t, 3> shape;
    std::array<Ps, 3> ns;
  };
  const char* const variants[] = {"ref_ref", "load_ref", "load_load"};
  for (const auto& [shape, ns] : {Known{{16, 16, 16}, {72, 56, 40}},
                                  {{32, 64, 32}, {72, 56, 40}},
                                  {{32, 3072, 32}, {1576, 808, 792}},
                                  {{100, 130, 70}, {1192, 616, 600}},
                                  {{256, 256, 256}, {8232, 4136, 4120}},
                                  {{512, 512, 512}, {65576, 32808, 32792}}}) {
    for (std::size_t v = 0; v < 3; ++v) {
      const TiledProduct product(shape[0], shape[1], shape[2], variants[v]);
      EXPECT_EQ(product_time(known_chip(), product).window, ns[v] * kNs)
          << shape[0] << "x" << shape[1] << "x" << shape[2] << " " << variants[v];
    }
  }
}

TEST(PipelineOracleTest, OneBufferLetsNothingOverlap) {
  auto chip = known_chip();
  chip.buffers = 1;
  // Eight steps of 16 + 16 + 16 ns, one after another, and the last output of 8 ns.
  const TiledProduct product(32, 512, 32, "load_ref");
  EXPECT_EQ(product_time(chip, product).window, (8 * 48 + 8) * kNs);
}

TEST(PipelineOracleTest, LoadsAndRoofs) {
  const auto chip = known_chip();
  const TiledProduct product(512, 512, 512, "load_load");
  EXPECT_EQ(product_time(chip, product).load, 4096 * kNs);  // 2 × 512² × 2 B at 256 GB/s
  EXPECT_DOUBLE_EQ(roofline_seconds(chip, product), 32768e-9);
  const TiledProduct thin(32, 3072, 32, "load_load");
  EXPECT_DOUBLE_EQ(roofline_seconds(chip, thin), 1536e-9);  // 393 216 B are read
}

// One more than the last cycle's index, which SCALE-Sim prints: 3039, 20351, 2303.
TEST(PipelineOracleTest, SystolicCycles) {
  const auto chip = known_chip();
  EXPECT_EQ(systolic_time(chip, {128, 128, 128, "ref_ref"}), 3040 * kNs);
  EXPECT_EQ(systolic_time(chip, {256, 256, 256, "ref_ref"}), 20352 * kNs);
  EXPECT_EQ(systolic_time(chip, {100, 130, 70, "ref_ref"}), 2304 * kNs);
}

}  // namespace
}  // namespace assay::cases::chip
