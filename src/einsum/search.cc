// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/search.h"

#include <algorithm>

namespace assay::einsum {
namespace {

constexpr int kBisections = 8;
// Below this, bisection has never found what greedy with windows did not.
constexpr std::size_t kBisectionTerms = 24;

bool keeps_to(const Network& network, const Tree& tree, double max_elements) {
  const auto nodes = node_labels(network, tree);
  for (std::size_t i = network.terms.size(); i + 1 < nodes.size(); ++i) {
    if (product_of_extents(network, nodes[i]) > max_elements) return false;
  }
  return true;
}

// Each term is read by one step, each step reads at most two terms, and the last step writes the
// output: no order needs fewer multiplications.
double fewest_mac(const Network& network) {
  double terms = 0;
  for (const auto& term : network.terms) terms += product_of_extents(network, term);
  return std::max(terms / 2, product_of_extents(network, network.output));
}

double lower_bound(const Network& network, const SearchOptions& options) {
  switch (options.objective) {
    case Objective::kMac:
    case Objective::kFlop:
      return fewest_mac(network);
    case Objective::kWrite:
      return product_of_extents(network, network.output) +
             static_cast<double>(network.terms.size()) - 2;
    case Objective::kTime:  // every step costs at least what the smallest does
      return static_cast<double>(network.terms.size() - 1) * options.time->seconds({});
  }
  return 0;
}

}  // namespace

std::optional<SearchResult> search(const Network& original, const SearchOptions& options) {
  const std::size_t n = original.terms.size();
  if (n <= 1) return SearchResult{.optimal = true, .method = "exact"};
  const Network network = fuse_labels(original);
  const auto cost = [&](const Tree& tree) {
    return cost_of(network, tree, options.objective, options.time);
  };

  if (n <= static_cast<std::size_t>(options.exact_limit)) {
    // A greedy order bounds the cost, and so spares the exact search most of its work.
    double bound = std::numeric_limits<double>::infinity();
    std::optional<Tree> greedy = search_greedy(network, options, {}, bound);
    if (greedy && keeps_to(network, *greedy, options.max_elements)) {
      bound = cost(*greedy);
    } else {
      greedy.reset();
    }
    auto best = search_exact(network, options, bound);
    if (!best) best = greedy;  // nothing below its cost
    if (!best) return std::nullopt;
    const double c = cost(*best);
    return SearchResult{*best, c, true, c, "exact"};
  }

  SearchResult best;
  best.cost = std::numeric_limits<double>::infinity();
  const auto consider = [&](Tree tree, const char* method) {
    if (!keeps_to(network, tree, options.max_elements)) return;
    const double before = cost(tree);
    tree = improve_windows(network, options, std::move(tree));
    const double after = cost(tree);
    if (after >= best.cost) return;
    best = {std::move(tree), after, false, 0,
            after < before ? std::string(method) + "+windows" : method};
  };
  if (auto greedy = search_random_greedy(network, options)) consider(std::move(*greedy), "greedy");
  if (n >= kBisectionTerms) {
    for (int i = 0; i < kBisections; ++i) {
      consider(search_bisection(network, options, options.seed + static_cast<std::uint64_t>(i)),
               "bisection");
    }
  }
  if (best.tree.merges.empty()) return std::nullopt;
  best.lower_bound = std::min(best.cost, lower_bound(network, options));
  return best;
}

}  // namespace assay::einsum
