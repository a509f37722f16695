// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/topology/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::chip {
namespace {

using ::testing::ElementsAre;

NetworkTopology network(std::string_view text, std::int64_t ranks = 0) {
  return parse_network(text, ranks, default_topology().network);
}

// The nodes that a route visits after the first.
std::vector<Fabric::Node> visited(const Fabric& fabric, Fabric::Node from, Fabric::Node to) {
  std::vector<Fabric::Node> nodes;
  for (const auto link : fabric.route(from, to)) {
    EXPECT_EQ(fabric.links()[static_cast<std::size_t>(link)].from,
              nodes.empty() ? from : nodes.back());
    nodes.push_back(fabric.links()[static_cast<std::size_t>(link)].to);
  }
  return nodes;
}

TEST(Fabric, RingTakesTheShorterWayAndTiesUp) {
  const auto ring = Fabric::between_ranks(network("ring", 6));
  EXPECT_THAT(visited(ring, 0, 2), ElementsAre(1, 2));
  EXPECT_THAT(visited(ring, 0, 4), ElementsAre(5, 4));
  EXPECT_THAT(visited(ring, 4, 1), ElementsAre(5, 0, 1));
  EXPECT_THAT(visited(ring, 3, 3), ElementsAre());
  EXPECT_EQ(ring.links().size(), 12u);
  EXPECT_EQ(Fabric::between_ranks(network("ring", 2)).links().size(), 2u);
}

TEST(Fabric, MeshGoesAlongTheRowFirst) {
  const auto mesh = Fabric::between_ranks(network("mesh:3x4"));
  EXPECT_THAT(visited(mesh, 0, 11), ElementsAre(1, 2, 3, 7, 11));
  EXPECT_THAT(visited(mesh, 11, 0), ElementsAre(10, 9, 8, 4, 0));
  EXPECT_EQ(mesh.out_degree(0), 2);
  EXPECT_EQ(mesh.out_degree(5), 4);
}

TEST(Fabric, TorusWraps) {
  const auto torus = Fabric::between_ranks(network("torus:3x4"));
  EXPECT_THAT(visited(torus, 0, 11), ElementsAre(3, 11));
  EXPECT_EQ(torus.out_degree(0), 4);
  EXPECT_EQ(Fabric::between_ranks(network("torus:2x2")).out_degree(0), 2);
  EXPECT_EQ(Fabric::between_ranks(network("torus:1x4")).out_degree(0), 2);
}

TEST(Fabric, SwitchAndFatTree) {
  const auto star = Fabric::between_ranks(network("switch", 4));
  EXPECT_THAT(visited(star, 1, 3), ElementsAre(4, 3));
  // Leaves are nodes 6, 7, 8; spines 9, 10.
  const auto tree = Fabric::between_ranks(network("fat_tree:3x2x2"));
  EXPECT_THAT(visited(tree, 0, 1), ElementsAre(6, 1));
  EXPECT_THAT(visited(tree, 0, 5), ElementsAre(6, 10, 8, 5));
  EXPECT_THAT(visited(tree, 1, 4), ElementsAre(6, 9, 8, 4));
}

TEST(Fabric, CustomTakesShortestPaths) {
  NetworkTopology custom = network("ring", 4);
  custom.kind = NetworkKind::kCustom;
  custom.switches = 1;
  custom.links = {{0, 4}, {4, 3}, {0, 1}, {1, 2}, {2, 3}, {3, 0}, {1, 3}};
  const auto fabric = Fabric::between_ranks(custom);
  EXPECT_FALSE(fabric.unreachable());
  EXPECT_THAT(visited(fabric, 0, 3), ElementsAre(1, 3));  // ties to the lowest node
  EXPECT_THAT(visited(fabric, 2, 1), ElementsAre(3, 0, 1));
  custom.links.pop_back();
  custom.links.erase(custom.links.begin() + 5);
  const auto gap = Fabric::between_ranks(custom).unreachable();
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->second, 0);
}

TEST(Fabric, EveryRouteArrives) {
  for (const auto& shape : {network("ring", 7), network("fully_connected", 7), network("switch", 7),
                            network("mesh:3x5"), network("torus:3x5"), network("torus:2x6"),
                            network("fat_tree:4x3x2"), network("mesh:1x6")}) {
    const auto fabric = Fabric::between_ranks(shape);
    for (Fabric::Node a = 0; a < fabric.ranks(); ++a) {
      for (Fabric::Node b = 0; b < fabric.ranks(); ++b) {
        const auto nodes = visited(fabric, a, b);
        EXPECT_EQ(nodes.empty() ? a : nodes.back(), b);
        EXPECT_LT(nodes.size(), static_cast<std::size_t>(fabric.nodes()));
      }
    }
  }
}

}  // namespace
}  // namespace assay::chip
