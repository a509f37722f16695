// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/search/search.h"

#include <algorithm>

#include "base/attend.h"
#include "base/clock.h"
#include "einsum/search/search_annealing.h"
#include "einsum/search/search_bisection.h"
#include "einsum/search/search_exact.h"
#include "einsum/search/search_greedy.h"
#include "einsum/search/search_windows.h"

namespace assay::einsum {
namespace {

// A bisection or an annealing takes as long as so many tries of the greedy search.
constexpr int kTriesPerLong = 16;
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

// One round of the searches for networks that are too large for the exact one.
std::optional<SearchResult> search_round(const Network& network, const SearchOptions& options) {
  const std::size_t n = network.terms.size();
  const auto cost = [&](const Tree& tree) {
    return cost_of(network, tree, options.objective, options.time);
  };
  // Candidates of fewer tries are among those of more: the more tries, the better the order.
  std::vector<std::pair<Tree, const char*>> candidates;
  const auto add = [&](Tree tree, const char* method) {
    if (keeps_to(network, tree, options.max_elements)) candidates.emplace_back(tree, method);
  };
  auto records = search_random_greedy(network, options);
  const Tree plain = records.front();
  for (auto& tree : records) add(std::move(tree), "greedy");
  const int long_tries = std::max(1, options.tries / kTriesPerLong);
  const int bisections = n >= kBisectionTerms ? long_tries : 0;
  std::vector<Tree> trees(static_cast<std::size_t>(bisections + long_tries));
  Attention* const attention = attention_here;
#pragma omp parallel for schedule(dynamic) num_threads(options.threads)
  for (int i = 0; i < bisections + long_tries; ++i) {
    if (!still_wanted(attention)) continue;
    const int j = i < bisections ? i : i - bisections;
    const auto seed = options.seed + static_cast<std::uint64_t>(j);
    trees[static_cast<std::size_t>(i)] = i < bisections
                                             ? search_bisection(network, options, seed)
                                             : search_annealing(network, options, plain, seed);
  }
  attend();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const bool bisected = i < static_cast<std::size_t>(bisections);
    add(std::move(trees[i]), bisected ? "bisection" : "annealing");
  }
  std::vector<double> before(candidates.size()), after(candidates.size());
#pragma omp parallel for schedule(dynamic) num_threads(options.threads)
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!still_wanted(attention)) continue;
    auto& tree = candidates[i].first;
    before[i] = cost(tree);
    tree = improve_windows(network, options, std::move(tree));
    after[i] = cost(tree);
  }
  attend();
  SearchResult best;
  best.cost = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (after[i] >= best.cost) continue;
    auto& [tree, method] = candidates[i];
    best = {std::move(tree), after[i], false, 0,
            after[i] < before[i] ? std::string(method) + "+windows" : method};
  }
  if (best.tree.merges.empty()) return std::nullopt;
  best.lower_bound = std::min(best.cost, lower_bound(network, options));
  return best;
}

}  // namespace

std::optional<SearchResult> search(const Network& original, const SearchOptions& options) {
  const std::size_t n = original.terms.size();
  if (n <= 1) return SearchResult{.optimal = true, .method = "exact"};
  const std::int64_t begin = monotonic_ns();
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

  // Only rounds that can end in time begin: the last one's length is the next one's.
  auto best = search_round(network, options);
  double spent = 1e-9 * static_cast<double>(monotonic_ns() - begin), last = spent;
  for (int round = 1; spent + last <= options.budget_s; ++round) {
    SearchOptions again = options;
    again.seed = options.seed + (static_cast<std::uint64_t>(round) << 32);
    auto found = search_round(network, again);
    if (found && (!best || found->cost < best->cost)) best = std::move(found);
    if (best) best->rounds = round + 1;
    const double now = 1e-9 * static_cast<double>(monotonic_ns() - begin);
    last = now - spent;
    spent = now;
  }
  return best;
}

}  // namespace assay::einsum
