// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/topology/fabric.h"

#include <algorithm>
#include <tuple>

namespace assay::chip {
namespace {

// One step from `at` towards `to` on a ring of `size`: the shorter way, ties upwards.
std::int32_t ring_step(std::int32_t at, std::int32_t to, std::int32_t size) {
  const std::int32_t up = (to - at + size) % size;
  return up <= size - up ? (at + 1) % size : (at + size - 1) % size;
}

}  // namespace

Fabric Fabric::between_ranks(const NetworkTopology& network) {
  const auto p = static_cast<Node>(network.ranks);
  Node extra = 0;
  if (network.kind == NetworkKind::kSwitch) extra = 1;
  if (network.kind == NetworkKind::kFatTree) {
    extra = static_cast<Node>(network.leaves + network.spines);
  }
  if (network.kind == NetworkKind::kCustom) extra = static_cast<Node>(network.switches);
  Fabric fabric(network.kind, p, p + extra);
  fabric.rows_ = static_cast<Node>(network.rows);
  fabric.columns_ = static_cast<Node>(network.columns);
  fabric.leaves_ = static_cast<Node>(network.leaves);
  fabric.ranks_per_leaf_ = static_cast<Node>(network.ranks_per_leaf);
  fabric.spines_ = static_cast<Node>(network.spines);

  switch (network.kind) {
    case NetworkKind::kRing:
      for (Node i = 0; i < p; ++i) fabric.join(i, (i + 1) % p);
      break;
    case NetworkKind::kFullyConnected:
      for (Node i = 0; i < p; ++i) {
        for (Node j = 0; j < i; ++j) fabric.join(i, j);
      }
      break;
    case NetworkKind::kSwitch:
      for (Node i = 0; i < p; ++i) fabric.join(i, p);
      break;
    case NetworkKind::kMesh:
    case NetworkKind::kTorus: {
      const bool wraps = network.kind == NetworkKind::kTorus;
      const Node rows = fabric.rows_, columns = fabric.columns_;
      for (Node r = 0; r < rows; ++r) {
        for (Node c = 0; c < columns; ++c) {
          const Node here = r * columns + c;
          if (c + 1 < columns || wraps) fabric.join(here, r * columns + (c + 1) % columns);
          if (r + 1 < rows || wraps) fabric.join(here, (r + 1) % rows * columns + c);
        }
      }
      break;
    }
    case NetworkKind::kFatTree:
      for (Node i = 0; i < p; ++i) fabric.join(i, p + i / fabric.ranks_per_leaf_);
      for (Node leaf = 0; leaf < fabric.leaves_; ++leaf) {
        for (Node spine = 0; spine < fabric.spines_; ++spine) {
          fabric.join(p + leaf, p + fabric.leaves_ + spine);
        }
      }
      break;
    case NetworkKind::kCustom:
      for (const auto& [from, to] : network.links) {
        fabric.links_.push_back({static_cast<Node>(from), static_cast<Node>(to)});
      }
      break;
  }
  fabric.finish();
  if (network.kind == NetworkKind::kCustom) fabric.build_custom_routes();
  return fabric;
}

Fabric Fabric::on_chip(const PeTopology& pe) {
  NetworkTopology mesh;
  mesh.kind = NetworkKind::kMesh;
  mesh.rows = pe.rows;
  mesh.columns = pe.columns;
  mesh.ranks = pe.rows * pe.columns;
  return between_ranks(mesh);
}

void Fabric::join(Node a, Node b) {
  if (a == b) return;  // a ring or a torus dimension of one
  links_.push_back({a, b});
  links_.push_back({b, a});
}

void Fabric::finish() {
  const auto key = [](Link link) { return std::tuple(link.from, link.to); };
  std::sort(links_.begin(), links_.end(), [&](Link a, Link b) { return key(a) < key(b); });
  // A ring of two reaches its neighbour both ways: that is one link, not two.
  links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
  first_link_.assign(static_cast<std::size_t>(nodes_) + 1, 0);
  for (const Link link : links_) ++first_link_[static_cast<std::size_t>(link.from) + 1];
  for (std::size_t i = 1; i < first_link_.size(); ++i) first_link_[i] += first_link_[i - 1];
}

// A breadth-first search backwards from every rank. Links are sorted, so the first predecessor that
// is found has the lowest number and the routes do not depend on the order in the file.
void Fabric::build_custom_routes() {
  const auto n = static_cast<std::size_t>(nodes_);
  std::vector<std::vector<Node>> incoming(n);
  for (const Link link : links_) incoming[static_cast<std::size_t>(link.to)].push_back(link.from);
  custom_next_.assign(static_cast<std::size_t>(ranks_) * n, -1);
  std::vector<Node> frontier, next;
  for (Node to = 0; to < ranks_; ++to) {
    Node* const hop = custom_next_.data() + static_cast<std::size_t>(to) * n;
    hop[to] = to;
    frontier.assign(1, to);
    while (!frontier.empty()) {
      next.clear();
      for (const Node at : frontier) {
        for (const Node before : incoming[static_cast<std::size_t>(at)]) {
          if (hop[before] >= 0) continue;
          hop[before] = at;
          next.push_back(before);
        }
      }
      std::sort(next.begin(), next.end());
      frontier.swap(next);
    }
  }
}

Fabric::Node Fabric::step_in_grid(Node at, Node to) const {
  const bool wraps = kind_ == NetworkKind::kTorus;
  const Node row = at / columns_, column = at % columns_;
  const Node to_row = to / columns_, to_column = to % columns_;
  const auto step = [&](Node from, Node target, Node size) {
    return wraps ? ring_step(from, target, size) : from + (target > from ? 1 : -1);
  };
  if (column != to_column) return row * columns_ + step(column, to_column, columns_);
  return step(row, to_row, rows_) * columns_ + column;
}

Fabric::Node Fabric::next_hop(Node at, Node to) const {
  switch (kind_) {
    case NetworkKind::kRing:
      return ring_step(at, to, ranks_);
    case NetworkKind::kFullyConnected:
      return to;
    case NetworkKind::kSwitch:
      return at == ranks_ ? to : ranks_;
    case NetworkKind::kMesh:
    case NetworkKind::kTorus:
      return step_in_grid(at, to);
    case NetworkKind::kFatTree: {
      const Node leaf = ranks_ + to / ranks_per_leaf_;
      if (at < ranks_) return ranks_ + at / ranks_per_leaf_;
      if (at == leaf) return to;
      if (at < ranks_ + leaves_) return ranks_ + leaves_ + to % spines_;
      return leaf;
    }
    case NetworkKind::kCustom:
      return custom_next_[static_cast<std::size_t>(to) * static_cast<std::size_t>(nodes_) +
                          static_cast<std::size_t>(at)];
  }
  return -1;
}

Fabric::LinkId Fabric::link_between(Node from, Node to) const {
  const auto begin = links_.begin() + first_link_[static_cast<std::size_t>(from)];
  const auto end = links_.begin() + first_link_[static_cast<std::size_t>(from) + 1];
  const auto link =
      std::lower_bound(begin, end, to, [](Link l, Node target) { return l.to < target; });
  check(link != end && link->to == to, "routes follow links");
  return static_cast<LinkId>(link - links_.begin());
}

std::vector<Fabric::LinkId> Fabric::route(Node from, Node to) const {
  std::vector<LinkId> path;
  for (Node at = from; at != to;) {
    const Node next = next_hop(at, to);
    check(next >= 0, "the fabric connects the nodes of a route");
    path.push_back(link_between(at, next));
    at = next;
  }
  return path;
}

std::optional<std::pair<Fabric::Node, Fabric::Node>> Fabric::unreachable() const {
  if (kind_ != NetworkKind::kCustom) return std::nullopt;  // connected by construction
  for (Node from = 0; from < ranks_; ++from) {
    for (Node to = 0; to < ranks_; ++to) {
      if (next_hop(from, to) < 0) return std::pair(from, to);
    }
  }
  return std::nullopt;
}

}  // namespace assay::chip
