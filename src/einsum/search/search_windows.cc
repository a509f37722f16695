// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/search/search_windows.h"

//
// A window is a node of the tree and the frontier below it, up to ten nodes; the order inside it is
// searched exactly, everything else stays. Repeated until no window gets better.
#include <algorithm>

#include "einsum/labels/pair_cost.h"

#include "einsum/search/search_exact.h"

namespace assay::einsum {
namespace {

constexpr std::size_t kWindow = 10;
constexpr int kMaxSweeps = 20;
constexpr double kWorthwhile = 1e-9;  // relative gain below which a change is rounding

// The tree with parents and children by node, which survives changes of its shape.
class TreeShape {
 public:
  TreeShape(const Network& network, const Tree& tree)
      : leaves_(network.terms.size()), children_(leaves_ + tree.merges.size(), {-1, -1}) {
    for (std::size_t i = 0; i < tree.merges.size(); ++i) children_[leaves_ + i] = tree.merges[i];
  }
  bool is_leaf(int node) const { return static_cast<std::size_t>(node) < leaves_; }
  std::pair<int, int>& children(int node) { return children_[static_cast<std::size_t>(node)]; }
  const std::pair<int, int>& children(int node) const {
    return children_[static_cast<std::size_t>(node)];
  }
  int root() const { return static_cast<int>(children_.size()) - 1; }

  Tree tree() const {
    Tree result;
    emit(root(), result);
    return result;
  }

 private:
  int emit(int node, Tree& result) const {
    if (is_leaf(node)) return node;
    const int a = emit(children(node).first, result), b = emit(children(node).second, result);
    result.merges.emplace_back(a, b);
    return static_cast<int>(leaves_ + result.merges.size()) - 1;
  }

  std::size_t leaves_;
  std::vector<std::pair<int, int>> children_;
};

// Grows the frontier by opening its largest inner node again and again.
void open_window(const TreeShape& shape, const std::vector<double>& sizes, int top,
                 std::vector<int>& frontier, std::vector<int>& inside) {
  frontier = {shape.children(top).first, shape.children(top).second};
  inside = {top};
  while (frontier.size() < kWindow) {
    auto largest = frontier.end();
    for (auto it = frontier.begin(); it != frontier.end(); ++it) {
      if (shape.is_leaf(*it)) continue;
      if (largest == frontier.end() ||
          sizes[static_cast<std::size_t>(*it)] > sizes[static_cast<std::size_t>(*largest)]) {
        largest = it;
      }
    }
    if (largest == frontier.end()) break;
    const int opened = *largest;
    inside.push_back(opened);
    *largest = shape.children(opened).first;
    frontier.push_back(shape.children(opened).second);
  }
}

}  // namespace

Tree improve_windows(const Network& network, const SearchOptions& options, Tree tree) {
  const PairCost<LabelSet> step(network.extents, options.objective, options.time);
  TreeShape shape(network, tree);
  std::vector<LabelSet> labels;
  std::vector<double> sizes;
  const auto look_again = [&] {
    shape = TreeShape(network, tree);
    labels = node_labels(network, tree);
    sizes.clear();
    for (const auto& set : labels) sizes.push_back(step.product(set));
  };
  look_again();
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool better = false;
    for (std::size_t top = network.terms.size() + 1;
         top < network.terms.size() + tree.merges.size(); ++top) {
      // Numbers of nodes change with the tree: this walks the positions, whatever stands there.
      std::vector<int> frontier, inside;
      open_window(shape, sizes, static_cast<int>(top), frontier, inside);
      if (frontier.size() < 3) continue;
      Network window{network.extents, {}, labels[top]};
      for (const int node : frontier) {
        window.terms.push_back(labels[static_cast<std::size_t>(node)]);
      }
      double before = 0;
      for (const int node : inside) {
        const auto& [a, b] = shape.children(node);
        before += step(labels[static_cast<std::size_t>(a)], labels[static_cast<std::size_t>(b)],
                       labels[static_cast<std::size_t>(node)]);
      }
      const auto order = search_exact(window, options, before * (1 - kWorthwhile));
      if (!order) continue;
      // The nodes inside the window are used again, the top last.
      std::vector<int> node_of(frontier);
      std::reverse(inside.begin(), inside.end());
      for (std::size_t i = 0; i < order->merges.size(); ++i) {
        const auto [a, b] = order->merges[i];
        shape.children(inside[i]) = {node_of[static_cast<std::size_t>(a)],
                                     node_of[static_cast<std::size_t>(b)]};
        node_of.push_back(inside[i]);
      }
      tree = shape.tree();
      look_again();
      better = true;
    }
    if (!better) break;
  }
  return tree;
}

}  // namespace assay::einsum
