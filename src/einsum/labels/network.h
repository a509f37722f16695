// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A contraction as the search for an order sees it: sets of labels and their extents, no layouts.

#include <string_view>
#include <utility>
#include <vector>

#include "einsum/labels/label_set.h"

namespace assay::einsum {

struct Network {
  std::vector<double> extents;  // of the labels
  std::vector<LabelSet> terms;
  LabelSet output;
};

// An order of pairwise contractions. Nodes 0 … n−1 are the terms; merge i makes node n+i of two
// nodes that were there before. The last merge makes the result.
struct Tree {
  std::vector<std::pair<int, int>> merges;
};

// What a plan should be best at. MAC: product of all extents of a step, summed over steps. FLOP:
// 2·MAC where a step sums something, else MAC. Write: elements of all results of steps.
enum class Objective { kTime, kMac, kFlop, kWrite };
std::string_view name_of(Objective objective);
// Throws UserError that lists the names.
Objective objective_from_name(std::string_view name);

// The sizes of a pairwise contraction: labels of A and the result, of B and the result, of A and B
// only, of all three.
struct PairSize {
  double m = 1, n = 1, k = 1, batch = 1;
  double mac() const { return m * n * k * batch; }
  double flop() const { return k > 1 ? 2 * mac() : mac(); }
};

// Predicts how long a pairwise contraction takes, whatever the layouts; cheap.
class PairTime {
 public:
  virtual ~PairTime() = default;
  virtual double seconds(const PairSize& size) const = 0;
};

double product_of_extents(const Network& network, const LabelSet& labels);
// The sizes of a step that makes `result` of `a` and `b`.
PairSize pair_size(const Network& network, const LabelSet& a, const LabelSet& b,
                   const LabelSet& result);
// The sets of labels of all nodes of a tree: a node keeps what the rest of the network needs.
std::vector<LabelSet> node_labels(const Network& network, const Tree& tree);
// The tree's cost; `time` is needed for Objective::kTime only.
double cost_of(const Network& network, const Tree& tree, Objective objective, const PairTime* time);

// Labels that occur in the same terms are one label for the search, with the product of extents.
Network fuse_labels(const Network& network);

}  // namespace assay::einsum
