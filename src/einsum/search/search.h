// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The search for a good order of pairwise contractions; docs/methods/einsum.md explains it.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "einsum/labels/network.h"

namespace assay::einsum {

struct SearchOptions {
  Objective objective = Objective::kTime;
  const PairTime* time = nullptr;  // needed for Objective::kTime; outlives the search
  // Results of steps may not be larger, the last one excepted.
  double max_elements = std::numeric_limits<double>::infinity();
  // Networks of up to so many terms are searched exactly. The work grows threefold with each term:
  // 16 take a tenth of a second, 18 a second.
  int exact_limit = 16;
  // Of the random greedy search, for networks beyond that; a bisection and an annealing are made
  // for each 16. What fewer tries find, more find too.
  int tries = 128;
  std::uint64_t seed = 0;
  int threads = 1;
  // Seconds. As long as they last, networks beyond exact_limit are searched again and again with
  // other seeds, and the best order is kept; 0: once. Never stops within a round: a larger budget
  // has made the same rounds, and more of them.
  double budget_s = 0;
};

struct SearchResult {
  Tree tree;
  double cost = 0;         // of the tree, in units of the objective
  bool optimal = false;    // no tree has a lower cost
  double lower_bound = 0;  // on the cost of any tree; equal to cost where that is optimal
  std::string method;      // "exact", "greedy", "bisection", "annealing", "+windows" if that helped
  int rounds = 1;          // of the search
};

// Finds an order. Deterministic given the seed and the rounds that a budget allows, whatever the
// number of threads. Nothing is returned if no order was found that keeps to max_elements.
std::optional<SearchResult> search(const Network& network, const SearchOptions& options);

}  // namespace assay::einsum
