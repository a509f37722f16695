// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The chip suite's default sweep, every point of it.

#include <gtest/gtest.h>

#include "chip/collective.h"
#include "chip/simulate.h"

namespace assay::chip {
namespace {

constexpr Variant kStagings[] = {Variant::kRefRef, Variant::kLoadRef, Variant::kLoadLoad};

TEST(Sweep, MatrixProductsOnOneFourAndSixteenElements) {
  const GemmShape shapes[] = {{16, 16, 16},    {32, 64, 32},    {32, 3072, 32},  {100, 130, 70},
                              {128, 128, 128}, {256, 256, 256}, {512, 512, 512}, {1024, 1024, 256}};
  for (const GemmShape& shape : shapes) {
    for (const Variant variant : kStagings) {
      Time one_element = 0;
      for (const std::int64_t side : {1, 2, 4}) {
        const Topology topology = with_grid(default_topology(), side, side);
        const GemmResult result = simulate_gemm({.shape = shape, .variant = variant}, topology);
        const Time time = result.metrics.window.length();
        EXPECT_GE(time, result.bounds.best());
        EXPECT_LE(result.metrics.mac_utilisation, 1);
        EXPECT_LE(result.metrics.useful_efficiency, result.metrics.mac_utilisation);
        if (side == 1) {
          one_element = time;
          EXPECT_EQ(time, result.closed_form.time);
        }
        // More elements on an otherwise equal chip do not slow a product down, except that data
        // now crosses a mesh: a few bursts' time.
        EXPECT_LE(time, one_element + 100 * kNanosecond)
            << to_string(shape) << " " << name_of(variant) << " " << side;
      }
    }
  }
}

TEST(Sweep, AllReduceOverSizesAlgorithmsNetworksAndRanks) {
  for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kHalvingDoubling,
                                    Algorithm::kDoubleBinaryTree, Algorithm::kDirect}) {
    for (const std::int64_t ranks : {4, 8, 16}) {
      const char* torus = ranks == 4 ? "torus:2x2" : ranks == 8 ? "torus:2x4" : "torus:4x4";
      for (const char* network : {"ring", torus, "switch", "fully_connected"}) {
        Topology topology = default_topology();
        topology.network = parse_network(network, ranks, topology.network);
        Time before = 0;
        for (std::int64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 4) {
          const CollectiveResult result =
              simulate_collective({.algorithm = algorithm, .bytes = bytes}, topology);
          EXPECT_TRUE(result.verified);
          EXPECT_GE(result.time, result.bound);
          EXPECT_GT(result.time, before);  // more bytes take longer
          before = result.time;
        }
      }
    }
  }
}

TEST(Sweep, BufferDepthHasAKnee) {
  Topology topology = default_topology();
  std::vector<Time> times;
  for (std::int64_t depth = 1; depth <= 8; ++depth) {
    topology.pe.buffer_depth = depth;
    const GemmResult result = simulate_gemm({.shape = {512, 512, 512}}, topology);
    EXPECT_EQ(result.metrics.window.length(), result.closed_form.time) << depth;
    times.push_back(result.metrics.window.length());
  }
  // The span is three stages of 16 ns: with three buffers the pipeline runs at full rate.
  EXPECT_GT(times[0], times[1]);
  EXPECT_GT(times[1], times[2]);
  for (std::size_t d = 3; d < times.size(); ++d) EXPECT_EQ(times[d], times[2]);
}

}  // namespace
}  // namespace assay::chip
