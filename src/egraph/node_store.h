// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Nodes in flat arrays, and the table that finds one by what it is.

#include <cstdint>
#include <span>
#include <vector>

#include "egraph/node.h"

namespace assay::egraph {

class NodeStore {
 public:
  ClassId size() const { return static_cast<ClassId>(ops_.size()); }
  NodeView view(ClassId node) const { return {ops_[node], payloads_[node], children(node)}; }
  Operator op(ClassId node) const { return ops_[node]; }
  std::span<const ClassId> children(ClassId node) const {
    return {children_.data() + first_[node], first_[node + 1] - first_[node]};
  }
  // The children's places in one array over all nodes, for those who keep something beside them.
  std::uint32_t first_slot(ClassId node) const { return first_[node]; }
  std::uint32_t end_slot(ClassId node) const { return first_[node + 1]; }
  ClassId child_at(std::uint32_t slot) const { return children_[slot]; }
  std::uint32_t slot_count() const { return static_cast<std::uint32_t>(children_.size()); }

  // Does not put it into the table.
  ClassId append(const NodeView& node);
  void set_child(std::uint32_t slot, ClassId child) { children_[slot] = child; }

  // The node in the table that is equal to this one, or kNoClass.
  ClassId find(const NodeView& node) const;
  // Puts a node there; returns the equal one that is there already, or itself. A node that is in
  // the table must not change: take it out first.
  ClassId insert(ClassId node);
  void erase(ClassId node);

 private:
  struct Cell {
    std::uint32_t hash = 0;
    ClassId node = kNoClass;
  };
  bool is_equal(ClassId node, const NodeView& other) const;
  void grow();

  std::vector<Operator> ops_;
  std::vector<std::uint64_t> payloads_;
  std::vector<std::uint32_t> first_ = {0};
  std::vector<ClassId> children_;
  std::vector<std::uint32_t> hashes_;  // under which a node is in the table

  std::vector<Cell> cells_ = std::vector<Cell>(64);
  std::size_t used_ = 0;
};

}  // namespace assay::egraph
