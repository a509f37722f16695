// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/collective/schedule_cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "chip/collective.h"

namespace assay::chip {
namespace {

Topology chips_on(std::string_view network, std::int64_t ranks) {
  Topology topology = default_topology();
  topology.network = parse_network(network, ranks, topology.network);
  return topology;
}

// What textbooks say, seconds: p ranks, n bytes, alpha = L + endpoint, gamma per byte added.
struct Textbook {
  double p, n, alpha, beta, gamma;

  double ring() const {
    return 2 * (p - 1) * alpha + 2 * (p - 1) / p * n * beta + (p - 1) / p * n * gamma;
  }
  double recursive_doubling() const { return std::log2(p) * (alpha + n * beta + n * gamma); }
  double halving_doubling() const {
    return 2 * std::log2(p) * alpha + 2 * (p - 1) / p * n * beta + (p - 1) / p * n * gamma;
  }
  double direct() const { return 2 * (alpha + n * beta / p) + (p - 1) / p * n * gamma; }
  double torus(double a, double b) const {
    return 2 * (a + b - 2) * alpha + 2 * (p - 1) / p * n * beta + (p - 1) / p * n * gamma;
  }
};

TEST(ScheduleCost, IsTheTextbooksWhereNothingContends) {
  const auto expect_cost = [](Algorithm algorithm, std::string_view network, std::int64_t ranks,
                              auto formula) {
    Topology topology = chips_on(network, ranks);
    topology.network.memory = Rate(60'000'000'000);
    const auto& net = topology.network;
    const auto result = simulate_collective({.algorithm = algorithm, .bytes = 1 << 20}, topology);
    const Textbook book{static_cast<double>(net.ranks), 1 << 20,
                        to_seconds(net.link_latency + net.endpoint),
                        1 / static_cast<double>(net.link.per_second()), 3 / 60e9};
    EXPECT_NEAR(static_cast<double>(result.alpha_beta), formula(book) * 1e12, 2)
        << name_of(algorithm) << " " << network;
  };
  for (const std::int64_t p : {4, 8, 16}) {
    expect_cost(Algorithm::kRing, "ring", p, [](const Textbook& b) { return b.ring(); });
    expect_cost(Algorithm::kRing, "fully_connected", p, [](const Textbook& b) { return b.ring(); });
    expect_cost(Algorithm::kRecursiveDoubling, "fully_connected", p,
                [](const Textbook& b) { return b.recursive_doubling(); });
    expect_cost(Algorithm::kHalvingDoubling, "fully_connected", p,
                [](const Textbook& b) { return b.halving_doubling(); });
    expect_cost(Algorithm::kDirect, "fully_connected", p,
                [](const Textbook& b) { return b.direct(); });
  }
  expect_cost(Algorithm::kTorus2d, "torus:4x4", 0, [](const Textbook& b) { return b.torus(4, 4); });
  expect_cost(Algorithm::kTorus2d, "torus:4x8", 0, [](const Textbook& b) { return b.torus(4, 8); });
}

// A rank of a switch has one port, through which everything that it sends must go.
TEST(ScheduleCost, KnowsPorts) {
  const auto cost = [](std::string_view network, Algorithm algorithm, Collective collective) {
    return to_seconds(
        simulate_collective(
            {.collective = collective, .algorithm = algorithm, .bytes = 64 << 20, .payload = false},
            chips_on(network, 8))
            .alpha_beta);
  };
  const double n_beta = (64 << 20) / 50e9;
  EXPECT_NEAR(cost("switch", Algorithm::kDirect, Collective::kAllToAll), 7 * n_beta / 8,
              0.01 * n_beta);
  EXPECT_NEAR(cost("switch", Algorithm::kDirect, Collective::kAllReduce), 2 * 7 * n_beta / 8,
              0.01 * n_beta);
  // A tree has a link for each of its edges on a full network; on one port a rank sends 2 n.
  EXPECT_LT(cost("fully_connected", Algorithm::kDoubleBinaryTree, Collective::kAllReduce),
            1.05 * n_beta);
  EXPECT_NEAR(cost("switch", Algorithm::kDoubleBinaryTree, Collective::kAllReduce), 2 * n_beta,
              0.1 * n_beta);
}

// The standard sweep: no cost is below what no algorithm can beat.
TEST(ScheduleCost, IsNeverBelowTheBound) {
  int points = 0;
  for (const char* network : {"ring", "torus", "switch", "fully_connected"}) {
    for (const std::int64_t p : {4, 8, 16}) {
      const std::string name = std::string(network) == "torus" ? (p == 4   ? "torus:2x2"
                                                                  : p == 8 ? "torus:2x4"
                                                                           : "torus:4x4")
                                                               : network;
      const Topology topology = chips_on(name, p);
      for (const auto algorithm : {Algorithm::kRing, Algorithm::kHalvingDoubling,
                                   Algorithm::kDoubleBinaryTree, Algorithm::kDirect}) {
        for (std::int64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 4) {
          const auto r = simulate_collective(
              {.algorithm = algorithm, .bytes = bytes, .payload = false}, topology);
          EXPECT_GE(r.alpha_beta, r.bound)
              << name_of(algorithm) << " on " << name << ", " << p << " ranks, " << bytes << " B";
          ++points;
        }
      }
    }
  }
  EXPECT_EQ(points, 432);
}

}  // namespace
}  // namespace assay::chip
