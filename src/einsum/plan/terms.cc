// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/plan/terms.h"

#include <map>

namespace assay::einsum {

Layout layout_of(std::span<const Label> axes, const Shape& shape,
                 std::span<const std::int64_t> strides, std::span<const std::int64_t> extents) {
  Layout layout;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (shape[axis] == 1) continue;
    const Label l = axes[axis];
    const std::int64_t extent = extents[static_cast<std::size_t>(l)];
    if (extent == 1) continue;  // a slice of one index
    const auto at = std::ranges::find(layout, l, &Mode::label);
    if (at == layout.end()) {
      layout.push_back({l, extent, strides[axis]});
    } else {
      at->stride += strides[axis];
    }
  }
  return layout;
}

Joined join_equal_terms(std::vector<LabelSet> terms, const LabelSet& output) {
  Joined joined;
  const int count = static_cast<int>(terms.size());
  joined.sets = std::move(terms);
  for (int i = 0; i < count; ++i) joined.nodes.push_back(i);
  bool found = true;
  while (found) {
    found = false;
    std::map<LabelSet, std::size_t> seen;
    for (std::size_t i = 0; i < joined.sets.size(); ++i) {
      const auto [at, is_new] = seen.try_emplace(joined.sets[i], i);
      if (is_new) continue;
      const std::size_t j = at->second;
      LabelSet needed = output;
      for (std::size_t o = 0; o < joined.sets.size(); ++o) {
        if (o != i && o != j) needed = needed | joined.sets[o];
      }
      joined.merges.merges.emplace_back(joined.nodes[j], joined.nodes[i]);
      joined.nodes[j] = count + static_cast<int>(joined.merges.merges.size()) - 1;
      joined.sets[j] = joined.sets[j] & needed;
      joined.nodes.erase(joined.nodes.begin() + static_cast<std::ptrdiff_t>(i));
      joined.sets.erase(joined.sets.begin() + static_cast<std::ptrdiff_t>(i));
      found = true;
      break;
    }
  }
  return joined;
}

Tree append(const Tree& outer, const std::vector<int>& nodes, const Tree& inner,
            std::size_t terms) {
  Tree tree = outer;
  std::vector<int> node_of(nodes);
  for (const auto& [a, b] : inner.merges) {
    tree.merges.emplace_back(node_of[static_cast<std::size_t>(a)],
                             node_of[static_cast<std::size_t>(b)]);
    node_of.push_back(static_cast<int>(terms + tree.merges.size()) - 1);
  }
  return tree;
}

Tree in_memory_order(const Tree& tree, std::size_t terms, std::span<const double> sizes) {
  std::vector<double> peak(sizes.size(), 0), size(sizes.begin(), sizes.end());
  for (std::size_t t = 0; t < terms; ++t) size[t] = 0;
  std::vector<bool> second_first(tree.merges.size(), false);
  for (std::size_t i = 0; i < tree.merges.size(); ++i) {
    const auto a = static_cast<std::size_t>(tree.merges[i].first),
               b = static_cast<std::size_t>(tree.merges[i].second);
    second_first[i] = peak[b] - size[b] > peak[a] - size[a];
    const std::size_t first = second_first[i] ? b : a, second = second_first[i] ? a : b;
    peak[terms + i] = std::max(
        {peak[first], size[first] + peak[second], size[first] + size[second] + size[terms + i]});
  }
  Tree ordered;
  std::vector<int> made(sizes.size(), -1);
  // Post-order, without recursion: trees may be as deep as they have terms.
  struct Visit {
    std::size_t node;
    bool open;
  };
  std::vector<Visit> stack;
  if (!tree.merges.empty()) stack.push_back({terms + tree.merges.size() - 1, false});
  while (!stack.empty()) {
    const auto [node, open] = stack.back();
    stack.pop_back();
    if (node < terms) {
      made[node] = static_cast<int>(node);
      continue;
    }
    const auto a = static_cast<std::size_t>(tree.merges[node - terms].first),
               b = static_cast<std::size_t>(tree.merges[node - terms].second);
    if (open) {
      ordered.merges.emplace_back(made[a], made[b]);
      made[node] = static_cast<int>(terms + ordered.merges.size()) - 1;
      continue;
    }
    stack.push_back({node, true});
    const bool swap = second_first[node - terms];
    stack.push_back({swap ? a : b, false});
    stack.push_back({swap ? b : a, false});
  }
  return ordered;
}

}  // namespace assay::einsum
