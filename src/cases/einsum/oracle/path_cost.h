// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an order of pairwise contractions costs, counted label by label.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace assay::cases::einsum {

// A network as sets of numbered labels.
struct LabelNetwork {
  std::vector<double> extents;       // of the labels
  std::vector<std::set<int>> terms;  // labels of each
  std::set<int> output;
};

// The operations of a path (pairs of nodes, terms first, results behind them in their order): a
// product for each combination of a step's labels and, where the step sums, an addition.
struct PathCost {
  double flop = 0;
  std::string wrong;  // why it is no path of this network; empty: it is one
};
PathCost path_cost(const LabelNetwork& network, const std::vector<std::int64_t>& pairs);

}  // namespace assay::cases::einsum
