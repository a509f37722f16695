// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A network as a graph: nodes, directed links, and the route between any two nodes. Knows no rates
// and no time. The mesh on the chip and the networks between chips are both fabrics.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "chip/topology/topology.h"

namespace assay::chip {

class Fabric {
 public:
  using Node = std::int32_t;
  using LinkId = std::int32_t;
  struct Link {
    Node from, to;
    friend bool operator==(Link, Link) = default;
  };

  // Ranks are nodes 0 … ranks-1; switches follow.
  static Fabric between_ranks(const NetworkTopology& network);
  // Routers of the processing elements, node = row * columns + column, joined to a mesh.
  static Fabric on_chip(const PeTopology& pe);

  Node nodes() const { return nodes_; }
  Node ranks() const { return ranks_; }
  const std::vector<Link>& links() const { return links_; }
  // Links that leave the node.
  std::int64_t out_degree(Node node) const {
    return first_link_[static_cast<std::size_t>(node) + 1] -
           first_link_[static_cast<std::size_t>(node)];
  }

  // The links from `from` to `to` in order; empty if they are the same node. Ring and torus take
  // the shorter way, ties go up; meshes go along the row first (XY); a fat tree goes up to spine
  // `to` mod spines; custom networks take a shortest path, ties to the lowest node.
  std::vector<LinkId> route(Node from, Node to) const;

  // Whether the network looks the same from every rank.
  bool all_ranks_alike() const {
    return kind_ != NetworkKind::kMesh && kind_ != NetworkKind::kFatTree &&
           kind_ != NetworkKind::kCustom;
  }

  // A pair of ranks without a route, if there is one.
  std::optional<std::pair<Node, Node>> unreachable() const;

 private:
  Fabric(NetworkKind kind, Node ranks, Node nodes) : kind_(kind), ranks_(ranks), nodes_(nodes) {}
  void join(Node a, Node b);  // both directions
  void finish();              // sorts the links and removes doubles
  void build_custom_routes();
  Node next_hop(Node at, Node to) const;
  Node step_in_grid(Node at, Node to) const;
  LinkId link_between(Node from, Node to) const;

  NetworkKind kind_;
  Node ranks_, nodes_;
  Node rows_ = 0, columns_ = 0;                        // mesh, torus
  Node ranks_per_leaf_ = 0, leaves_ = 0, spines_ = 0;  // fat_tree
  std::vector<Link> links_;                            // sorted by (from, to)
  std::vector<LinkId> first_link_;                     // of each node, and one past the end
  std::vector<Node> custom_next_;                      // [to * nodes + at]; -1: none
};

}  // namespace assay::chip
