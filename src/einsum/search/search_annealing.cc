// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/search/search_annealing.h"

//
// Simulated annealing on trees. A step makes node p of x and y, and x of a and b; exchanging y with
// a or b changes the two steps and nothing else, since what p keeps does not depend on how it was
// made. Such exchanges reach every tree from every other. One is taken with probability
// (old/new)^β, where old and new are the costs of the two steps: a ratio, so that the cheap parts
// of the tree are put in order as well as the expensive ones.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/philox.h"
#include "einsum/labels/pair_cost.h"

namespace assay::einsum {
namespace {

// From where almost everything is taken to where almost nothing is that is worse by a tenth.
constexpr double kFirstBeta = 0.1, kLastBeta = 20;
constexpr int kTemperatures = 200;
constexpr int kSweeps = 20;  // at each temperature

template <typename Set>
class Annealing {
 public:
  Annealing(const Network& network, const SearchOptions& options, const Tree& tree,
            std::uint64_t seed)
      : step_(network.extents, options.objective, options.time),
        max_elements_(options.max_elements),
        leaves_(network.terms.size()),
        random_(seed, stream_key("anneal")) {
    const auto labels = node_labels(network, tree);
    for (const auto& wide : labels) {
      nodes_.emplace_back();
      wide.for_each([&](Label l) { nodes_.back().labels.insert(l); });
    }
    for (std::size_t i = 0; i < tree.merges.size(); ++i) {
      Node& node = nodes_[leaves_ + i];
      node.children = {tree.merges[i].first, tree.merges[i].second};
      node.cost = cost_of(node);
    }
  }

  Tree run() {
    best_ = nodes_;
    best_cost_ = total();
    for (int t = 0; t < kTemperatures; ++t) {
      const double share = static_cast<double>(t) / (kTemperatures - 1);
      const double beta = kFirstBeta * std::pow(kLastBeta / kFirstBeta, share);
      for (int sweep = 0; sweep < kSweeps; ++sweep) {
        for (std::size_t p = leaves_; p < nodes_.size(); ++p) exchange(p, beta);
      }
      const double cost = total();
      if (cost < best_cost_) {
        best_cost_ = cost;
        best_ = nodes_;
      }
    }
    Tree tree;
    emit(static_cast<int>(nodes_.size()) - 1, tree);
    return tree;
  }

 private:
  struct Node {
    Set labels;  // of its result
    std::array<int, 2> children = {-1, -1};
    double cost = 0;
  };

  Node& node(int i) { return nodes_[static_cast<std::size_t>(i)]; }
  double cost_of(const Node& n) {
    return step_(node(n.children[0]).labels, node(n.children[1]).labels, n.labels);
  }
  double total() const {
    double sum = 0;
    for (const auto& n : nodes_) sum += n.cost;
    return sum;
  }

  // Which of the four exchanges below p is tried, and the number it is taken by, come from one
  // draw.
  void exchange(std::size_t p, double beta) {
    const std::uint64_t draw = next_draw();
    Node& top = nodes_[p];
    const std::size_t side = draw & 1, which = (draw >> 1) & 1;
    const int x = top.children[side], y = top.children[1 - side];
    if (static_cast<std::size_t>(x) < leaves_) return;
    Node& below = node(x);
    const int stays = below.children[which], leaves = below.children[1 - which];
    const Set &s = node(stays).labels, &t = node(y).labels, &l = node(leaves).labels;
    const Set made = (s | t) & (l | top.labels);
    if (step_.product(made) > max_elements_) return;
    const double lower = step_(s, t, made), upper = step_(made, l, top.labels);
    const double ratio = (below.cost + top.cost) / (lower + upper);
    if (ratio < 1 && unit_interval(draw) >= std::pow(ratio, beta)) return;
    below = {made, {stays, y}, lower};
    top.children = {x, leaves};
    top.cost = upper;
  }

  std::uint64_t next_draw() {
    if (draws_ % 4 == 0) block_ = random_.block(draws_ / 4);
    return block_[draws_++ % 4];
  }

  int emit(int i, Tree& tree) const {
    if (static_cast<std::size_t>(i) < leaves_) return i;
    const auto& children = best_[static_cast<std::size_t>(i)].children;
    const int a = emit(children[0], tree), b = emit(children[1], tree);
    tree.merges.emplace_back(a, b);
    return static_cast<int>(leaves_ + tree.merges.size()) - 1;
  }

  PairCost<Set> step_;
  double max_elements_;
  std::size_t leaves_;
  Philox random_;
  Philox::Block block_{};
  std::uint64_t draws_ = 0;
  std::vector<Node> nodes_, best_;
  double best_cost_ = 0;
};

}  // namespace

Tree search_annealing(const Network& network, const SearchOptions& options, const Tree& start,
                      std::uint64_t seed) {
  const std::size_t labels = network.extents.size();
  if (labels <= 64) return Annealing<BasicLabelSet<1>>(network, options, start, seed).run();
  if (labels <= 128) return Annealing<BasicLabelSet<2>>(network, options, start, seed).run();
  if (labels <= 256) return Annealing<BasicLabelSet<4>>(network, options, start, seed).run();
  return Annealing<LabelSet>(network, options, start, seed).run();
}

}  // namespace assay::einsum
