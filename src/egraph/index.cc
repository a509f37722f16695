// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/index.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace assay::egraph {
namespace {

template <typename Item>
std::span<const Item> with_op(const std::vector<Item>& items, const std::vector<Operator>& ops,
                              std::uint32_t begin, std::uint32_t end, Operator op) {
  const auto first = ops.begin() + begin, last = ops.begin() + end;
  const auto [low, high] = std::equal_range(first, last, op);
  return {items.data() + (low - ops.begin()), static_cast<std::size_t>(high - low)};
}

// Counts to where each begins; one more at the end.
void make_starts(std::vector<std::uint32_t>& counts) {
  std::uint32_t sum = 0;
  for (auto& count : counts) sum += std::exchange(count, sum);
}

}  // namespace

void Index::update(const EGraph& graph) {
  check(graph.is_clean(), "an index is made of a graph that was rebuilt");
  ++now_;
  const ClassId count = graph.id_count();
  const auto known = static_cast<ClassId>(class_of_.size());
  class_of_.resize(count);
  since_.resize(count, now_);
  Operator ops = 0;
  for (ClassId node = 0; node < count; ++node) {
    const ClassId of = graph.find(node);
    const bool is_as_before =
        node < known && class_of_[node] == of && graph.changed_at(node) <= graph_time_;
    if (!is_as_before) since_[node] = now_;
    class_of_[node] = of;
    if (graph.is_live(node)) ops = std::max(ops, graph.node(node).op + 1);
  }
  graph_time_ = graph.now();

  op_start_.assign(ops + 1, 0);
  class_start_.assign(count + 1, 0);
  parent_start_.assign(count + 1, 0);
  std::uint32_t live = 0, children = 0;
  for (ClassId node = 0; node < count; ++node) {
    if (!graph.is_live(node)) continue;
    const auto view = graph.node(node);
    ++op_start_[view.op];
    ++class_start_[class_of_[node]];
    for (const ClassId child : view.children) ++parent_start_[child];
    children += static_cast<std::uint32_t>(view.children.size());
    ++live;
  }
  make_starts(op_start_);
  make_starts(class_start_);
  make_starts(parent_start_);

  by_op_.resize(live);
  auto at = op_start_;
  for (ClassId node = 0; node < count; ++node) {
    if (graph.is_live(node)) by_op_[at[graph.node(node).op]++] = node;
  }
  // In the order of operators, so that within a class and below a child they are sorted by them.
  by_class_.resize(live);
  class_ops_.resize(live);
  by_child_.resize(children);
  parent_ops_.resize(children);
  at = class_start_;
  auto at_child = parent_start_;
  for (const ClassId node : by_op_) {
    const auto view = graph.node(node);
    const auto place = at[class_of_[node]]++;
    by_class_[place] = node;
    class_ops_[place] = view.op;
    for (std::uint32_t i = 0; i < view.children.size(); ++i) {
      const auto below = at_child[view.children[i]]++;
      by_child_[below] = {node, i};
      parent_ops_[below] = view.op;
    }
  }
}

std::span<const ClassId> Index::nodes(Operator op) const {
  if (op + 1 >= op_start_.size()) return {};
  return {by_op_.data() + op_start_[op], op_start_[op + 1] - op_start_[op]};
}
std::span<const ClassId> Index::nodes(ClassId of, Operator op) const {
  return with_op(by_class_, class_ops_, class_start_[of], class_start_[of + 1], op);
}
std::span<const Index::Parent> Index::parents(ClassId of, Operator op) const {
  return with_op(by_child_, parent_ops_, parent_start_[of], parent_start_[of + 1], op);
}

}  // namespace assay::egraph
