// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/node_store.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace assay::egraph {
namespace {

std::uint32_t hash_of(const NodeView& node) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
  std::uint64_t h = (node.op + 1) * kMultiplier;
  const auto mix = [&](std::uint64_t value) {
    h = (h ^ value) * kMultiplier;
    h ^= h >> 32;
  };
  mix(node.payload);
  for (const ClassId child : node.children) mix(child);
  return static_cast<std::uint32_t>(h ^ (h >> 29));
}

}  // namespace

ClassId NodeStore::append(const NodeView& node) {
  check(ops_.size() < kNoClass - 1 && children_.size() + node.children.size() < kNoClass,
        "an e-graph has fewer than 2^32 nodes and children");
  ops_.push_back(node.op);
  payloads_.push_back(node.payload);
  children_.insert(children_.end(), node.children.begin(), node.children.end());
  first_.push_back(static_cast<std::uint32_t>(children_.size()));
  hashes_.push_back(0);
  return static_cast<ClassId>(ops_.size() - 1);
}

bool NodeStore::is_equal(ClassId node, const NodeView& other) const {
  return ops_[node] == other.op && payloads_[node] == other.payload &&
         std::ranges::equal(children(node), other.children);
}

ClassId NodeStore::find(const NodeView& node) const {
  const auto hash = hash_of(node);
  const std::size_t mask = cells_.size() - 1;
  for (std::size_t at = hash & mask; cells_[at].node != kNoClass; at = (at + 1) & mask) {
    if (cells_[at].hash == hash && is_equal(cells_[at].node, node)) return cells_[at].node;
  }
  return kNoClass;
}

ClassId NodeStore::insert(ClassId node) {
  if (2 * (used_ + 1) > cells_.size()) grow();
  const auto what = view(node);
  const auto hash = hash_of(what);
  const std::size_t mask = cells_.size() - 1;
  std::size_t at = hash & mask;
  for (; cells_[at].node != kNoClass; at = (at + 1) & mask) {
    if (cells_[at].hash == hash && is_equal(cells_[at].node, what)) return cells_[at].node;
  }
  cells_[at] = {hash, node};
  hashes_[node] = hash;
  ++used_;
  return node;
}

void NodeStore::erase(ClassId node) {
  const std::size_t mask = cells_.size() - 1;
  std::size_t at = hashes_[node] & mask;
  while (cells_[at].node != node) {
    check(cells_[at].node != kNoClass, "a node that is taken out of the table is in it");
    at = (at + 1) & mask;
  }
  // Those behind it move up, so that no gap hides them from their hash.
  for (std::size_t next = (at + 1) & mask; cells_[next].node != kNoClass;
       next = (next + 1) & mask) {
    const std::size_t home = cells_[next].hash & mask;
    if (((next - home) & mask) >= ((next - at) & mask)) {
      cells_[at] = cells_[next];
      at = next;
    }
  }
  cells_[at] = {};
  --used_;
}

void NodeStore::grow() {
  const auto old = std::exchange(cells_, std::vector<Cell>(2 * cells_.size()));
  const std::size_t mask = cells_.size() - 1;
  for (const auto& cell : old) {
    if (cell.node == kNoClass) continue;
    std::size_t at = cell.hash & mask;
    while (cells_[at].node != kNoClass) at = (at + 1) & mask;
    cells_[at] = cell;
  }
}

}  // namespace assay::egraph
