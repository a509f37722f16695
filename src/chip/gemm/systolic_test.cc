// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/gemm/systolic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "chip/gemm/scalesim.h"

namespace assay::chip {
namespace {

constexpr Dataflow kAll[] = {Dataflow::kOutputStationary, Dataflow::kWeightStationary,
                             Dataflow::kInputStationary};

TEST(Systolic, CountsTheCyclesThatScaleSimReports) {
  // SCALE-Sim's report for a 32x32 array, in the order output-, weight-, input-stationary.
  const struct {
    GemmShape shape;
    std::int64_t last_cycle[3];
  } cases[] = {{{128, 128, 128}, {3039, 3551, 3551}},
               {{256, 256, 256}, {20351, 22399, 22399}},
               {{100, 130, 70}, {2303, 2909, 3279}},
               {{256, 256, 128}, {10175, 11199, 14207}}};
  for (const auto& c : cases) {
    for (int d = 0; d < 3; ++d) {
      EXPECT_EQ(systolic_cycles(c.shape, {32, 32, kAll[d]}) - 1, c.last_cycle[d])
          << to_string(c.shape) << " " << name_of(kAll[d]);
    }
  }
}

TEST(Systolic, OneCellMultipliesOnePairACycle) {
  EXPECT_EQ(systolic_cycles({1, 1, 1}, {1, 1, Dataflow::kOutputStationary}), 1);
  EXPECT_EQ(systolic_cycles({3, 5, 7}, {1, 1, Dataflow::kOutputStationary}), 3 * 5 * 7);
  EXPECT_THROW(
      systolic_cycles({std::int64_t{1} << 31, std::int64_t{1} << 31, std::int64_t{1} << 31},
                      {1, 1, Dataflow::kOutputStationary}),
      UserError);
}

TEST(Systolic, TileTimeFollowsTheTopology) {
  Topology topology = default_topology();
  EXPECT_EQ(tile_compute_time(topology), 16 * kNanosecond);
  topology.mac.kind = MacKind::kSystolic;
  // One fold of 64 + 32 + 32 - 2 cycles at 1 GHz.
  EXPECT_EQ(tile_compute_time(topology), 126 * kNanosecond);
}

constexpr std::string_view kConfig =
    "[general]\nrun_name = x\n\n[architecture_presets]\nArrayHeight:    32\nArrayWidth : 32\n"
    "Bandwidth : 10\nDataflow : ws\n\n[layout]\nArrayHeight: 9\n";

TEST(ScaleSim, ImportsAConvolution) {
  // AlexNet's first layer: 55x55 outputs, the right neighbour of an exact division.
  const auto layers = parse_scalesim_topology(
      "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
      "Strides,\nConv1,  224, 224,    11, 11,    3,      96,     4,\n",
      "alexnet.csv");
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].name, "Conv1");
  EXPECT_EQ(layers[0].gemm, (GemmShape{55 * 55, 363, 96}));
  const auto array = parse_scalesim_config(kConfig, "scale.cfg");
  EXPECT_EQ(scalesim_compute_cycles(layers[0], array), 112283);
}

TEST(ScaleSim, ImportsMatrixProductsAndDepthwiseLayers) {
  const auto layers = parse_scalesim_topology(
      "Layer Name, M, N, K,\r\nTest 1, 256, 128, 256,\r\n\r\n"
      "Test 2, 5, 6, 7, 1:1",
      "t.csv");
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].gemm, (GemmShape{256, 256, 128}));
  EXPECT_EQ(layers[1].gemm, (GemmShape{5, 7, 6}));
  const auto depthwise = parse_scalesim_topology(
      "Layer, IFMAP Width, IFMAP Width, Filter Height, Filter Width, Channel, num filters, "
      "Stride,\n"
      "DP1, 8, 8, 3, 3, 4, 1, 1,\n",
      "t.csv");
  ASSERT_EQ(depthwise.size(), 4u);
  EXPECT_EQ(depthwise[3].name, "DP1Channel_3");
  EXPECT_EQ(depthwise[3].gemm, (GemmShape{36, 9, 1}));
}

TEST(ScaleSim, TakesColumnsByTheirNames) {
  for (const char* text : {"Layer,M,N,K,\na,1,2,3,\n", "Layer,\u00a0M,K,N,\na,1,3,2,\n",
                           "Layer Name, k, n, m, Sparsity,\na,3,2,1,1:1,\n"}) {
    EXPECT_EQ(parse_scalesim_topology(text, "t.csv").at(0).gemm, (GemmShape{1, 3, 2})) << text;
  }
  const auto refusal = [](std::string_view header) -> std::string {
    try {
      parse_scalesim_topology(std::string(header) + "\na, 4, 4, 3, 3, 1, 1, 1,\n", "t.csv");
    } catch (const UserError& e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal("Layer, M, N, N,"),
            "t.csv:1: column 4 of the header: expected M, N and K, each once, got 'N'");
  EXPECT_EQ(refusal("Layer, M, N,"),
            "t.csv:1: column 4 of the header: expected M, N and K, each once, got ''");
  EXPECT_EQ(refusal("Layer, h, w,"),
            "t.csv:1: column 2 of the header: expected M, N or K, or IFMAP Height, got 'h'");
  EXPECT_EQ(refusal("Layer, IFMAP Height, Filter Height,"),
            "t.csv:1: column 3 of the header: expected ifmap width, got 'Filter Height'");
  EXPECT_EQ(refusal("Layer, M, N, K, Batch,"),
            "t.csv:1: column 5 of the header: expected Sparsity or nothing, got 'Batch'");
}

TEST(ScaleSim, RefusesWhatItCannotReproduce) {
  const auto topology = [](std::string_view text) {
    return parse_scalesim_topology(text, "t.csv");
  };
  EXPECT_THROW(topology(""), UserError);
  EXPECT_THROW(topology("Layer, M, N, K,\n"), UserError);
  EXPECT_THROW(topology("Layer, M, N, K,\na, 1, 2,\n"), UserError);
  EXPECT_THROW(topology("Layer, M, N, K,\na, 1, -2, 3,\n"), UserError);
  EXPECT_THROW(topology("Layer, M, N, K,\na, 1, 2x, 3,\n"), UserError);
  EXPECT_THROW(topology("Layer, M, N, K,\na, 1, 2, 3, 2:4,\n"), UserError);
  const std::string convolution =
      "Layer, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
      "Strides";
  EXPECT_EQ(topology(convolution + "\na, 4, 4, 3, 3, 1, 1, 1,\n").size(), 1u);
  EXPECT_THROW(topology(convolution + "\na, 4, 4, 5, 3, 1, 1, 1,\n"), UserError);
  EXPECT_THROW(topology(convolution + "\na, 4, 4, 3, 3, 1, 1, 0,\n"), UserError);
  try {
    topology("Layer, M, N, K,\n\na, 1, 2, zero,\n");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(), "t.csv:3: expected a positive number, got 'zero'");
  }
  const auto config = [](std::string_view text) { return parse_scalesim_config(text, "a.cfg"); };
  EXPECT_THROW(config(""), UserError);
  EXPECT_THROW(config("[architecture_presets]\nArrayHeight: 4\nArrayWidth: 4\n"), UserError);
  EXPECT_THROW(config("[architecture_presets]\nArrayHeight: 4\nArrayWidth: 0\nDataflow: os\n"),
               UserError);
  EXPECT_THROW(config("[architecture_presets]\nArrayHeight: 4\nArrayWidth: 4\nDataflow: xx\n"),
               UserError);
  EXPECT_THAT(
      [&] { config(std::string(kConfig) + "[architecture_presets]\narrayheight = 4\n"); },
      testing::ThrowsMessage<UserError>("a.cfg: repeated key architecture_presets.arrayheight"));
}

}  // namespace
}  // namespace assay::chip
