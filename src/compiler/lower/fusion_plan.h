// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which nodes get a buffer, which are computed where they are used.

#include <set>
#include <vector>

#include "compiler/lower/lower.h"

namespace assay::compiler {

class FusionPlan {
 public:
  FusionPlan(const WorkGraph& graph, const FuseChoices& choices);

  bool is_used(NodeId id) const { return used_[id]; }
  const std::vector<NodeId>& readers(NodeId id) const { return readers_[id]; }
  bool has_buffer(NodeId id) const { return buffers_.contains(id); }
  void give_buffer(NodeId id) { buffers_.insert(id); }
  // Too dear to be computed more than once.
  bool is_dear(NodeId id) const { return effort_[id] > kCheap; }
  // The one node with a buffer for which it is computed; its own number for one with a buffer,
  // kMany for several.
  NodeId group(NodeId id) const { return group_[id]; }
  static constexpr NodeId kMany = ~NodeId{0};
  // Whether it is computed of a product's elements one by one, however far below that is.
  bool follows_product(NodeId id) const { return follows_product_[id]; }

 private:
  static constexpr int kCheap = 1, kDear = 1000;
  void find_used();
  void give_needed_buffers(const FuseChoices& choices);
  void measure_effort();
  void group_nodes();
  void find_products();

  const WorkGraph& graph_;
  std::vector<bool> used_, is_free_, is_constant_, follows_product_;
  std::vector<std::vector<NodeId>> readers_;
  std::set<NodeId> buffers_;
  std::vector<int> effort_;  // to compute an element again from what has a buffer
  std::vector<NodeId> group_;
};

}  // namespace assay::compiler
