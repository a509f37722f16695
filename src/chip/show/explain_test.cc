// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/show/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace assay::chip {
namespace {

using ::testing::HasSubstr;

TEST(Explain, PutsTheClosedFormBesideTheSimulation) {
  const auto explanation = explain_gemm({.shape = {256, 256, 256}}, default_topology());
  EXPECT_EQ(explanation.residual, 0);
  EXPECT_EQ(explanation.formula, "48 + (256 - 1) * 16 + 8 ns");
  for (const auto& stage : explanation.stages) EXPECT_EQ(stage.work, stage.simulated);
  const std::string text = to_text(explanation);
  EXPECT_THAT(text, HasSubstr("residual +0.000 ns"));
  EXPECT_THAT(text, HasSubstr("<- bottleneck"));
  const Json json = to_json(explanation);
  EXPECT_EQ(json["explanation"]["stages"]["gemm"]["closed_form_ns"], 4096.0);
}

TEST(Explain, SaysWhatLimits) {
  Topology topology = default_topology();
  topology.pe.buffer_depth = 1;
  EXPECT_THAT(explain_gemm({.shape = {64, 128, 64}}, topology).formula,
              HasSubstr("1 buffers limit"));
  topology = default_topology();
  topology.tile.n = 32;
  topology.hbm.channel = Rate(1'000'000'000);
  topology.pe.output_buffers = 100;
  const auto explanation =
      explain_gemm({.shape = {64, 64, 64}, .variant = Variant::kLoadLoad}, topology);
  EXPECT_THAT(explanation.formula, HasSubstr("outputs limit"));
  EXPECT_EQ(explanation.residual, 0);
  topology.dma.setup = 100;
  const auto estimate = explain_gemm({.shape = {64, 64, 64}}, topology);
  EXPECT_THAT(to_text(estimate), HasSubstr("an estimate: requests have a setup time"));
}

TEST(Explain, DescribesATopology) {
  const Json json = describe(default_topology());
  EXPECT_EQ(json["hash"], default_topology().hash());
  EXPECT_EQ(json["derived"]["tile_stage_ns"]["ref_ref"]["dma_in"], 32.0);
  EXPECT_DOUBLE_EQ(json["derived"]["balance_macs_per_byte"].get<double>(), 16);
  EXPECT_THAT(describe_text(default_topology()), HasSubstr("256.0 GB/s"));
}

TEST(Explain, DescribesACollective) {
  const auto result = simulate_collective({.bytes = 1 << 20}, default_topology());
  EXPECT_THAT(to_text(result), HasSubstr("all_reduce by ring on a ring of 8 ranks, 1.000 MiB"));
  EXPECT_THAT(to_text(result), HasSubstr("the data came out right"));
}

}  // namespace
}  // namespace assay::chip
