// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One region: a node and as much of what it is computed of as fits into one visit of each row.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/lower/work_graph.h"

namespace assay::compiler {

class RegionMaker {
 public:
  enum class Use : std::uint8_t {
    kLoad,    // it has a buffer
    kInline,  // it is computed here, and nobody else needs it
    kShare,   // it has a buffer, which this region may write, since it is computed here anyway
  };
  struct Setting {
    const WorkGraph* graph = nullptr;
    std::function<Use(NodeId)> use;
    // Whether a node is too dear to be computed again for each repetition of it.
    std::function<bool(NodeId)> is_dear;
    // A product whose sums are value 0 of this region; its elements by this view.
    std::optional<NodeId> product;
    View product_view;
  };
  RegionMaker(Setting setting, std::vector<Dim> shape);

  // The node that the region is about, by a view of the region's shape or of its rows; stored.
  bool root(NodeId node, View view, bool of_row);
  // A node's elements by a view of the region's shape, or of its rows.
  std::optional<std::uint32_t> value(NodeId node, const View& view, bool of_row);

  const Region& region() const { return region_; }
  // What the accesses' operands are, in order.
  const std::vector<NodeId>& operands() const { return operands_; }
  // Nodes that must have a buffer for this region.
  const std::set<NodeId>& loads() const { return loads_; }
  const std::set<NodeId>& stored() const { return stored_; }
  bool reduces() const { return reduces_; }
  const std::set<NodeId>& inlined() const { return inlined_; }

 private:
  // Writes the node's elements, which `value` is, by that view.
  void store(std::uint32_t value, NodeId node, const View& view);
  std::optional<std::uint32_t> computed(NodeId node, const View& view, bool of_row);
  std::optional<std::uint32_t> reduction(const Node& node, const View& view);
  std::uint32_t loaded(NodeId node, const View& view, bool of_row);
  std::uint32_t add(Region::Value value, std::string key);
  std::uint32_t operand(NodeId node);
  // Whether a view of the region's shape reads one element for each row.
  bool is_of_row(const View& view) const;

  // Everything that is only ever added to, in order: so that what was tried in vain can be taken
  // back at the cost of what was tried.
  struct Mark {
    std::size_t values, stores, operands, names, loads, inlined;
    bool reduces;
  };
  Mark mark() const;
  void take_back(const Mark& mark);
  void name(std::string key, std::uint32_t number);
  void note_load(NodeId node);

  Setting setting_;
  Region region_;
  std::map<std::string, std::uint32_t> known_;
  std::vector<NodeId> operands_;
  std::set<NodeId> loads_, stored_, inlined_;
  std::vector<std::string> names_in_order_;
  std::vector<NodeId> loads_in_order_, inlined_in_order_, stored_in_order_;
  bool reduces_ = false;
  int depth_ = 0;  // of values within values
};

}  // namespace assay::compiler
