// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/search/search.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/philox.h"
#include "einsum/search/search_annealing.h"
#include "einsum/search/search_bisection.h"
#include "einsum/search/search_exact.h"
#include "einsum/search/search_greedy.h"
#include "einsum/search/search_windows.h"
#include "einsum/testing/example_networks.h"

namespace assay::einsum {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double best(const Network& network, Objective objective) {
  const auto found = search(network, {.objective = objective});
  EXPECT_TRUE(found && found->optimal);
  EXPECT_EQ(found->cost, cost_of(network, found->tree, objective, nullptr));
  return found->cost;
}

TEST(Search, FindsEveryMinimumOfTheTable) {
  for (const auto& row : planner_table()) {
    const auto network = network_of(row.expression, row.extents);
    EXPECT_EQ(best(network, Objective::kMac), row.min_mac) << row.expression;
    EXPECT_EQ(best(network, Objective::kFlop), row.min_flop) << row.expression;
  }
}

// All orders of up to five terms, by plain recursion.
double cheapest_of_all(const Network& network, std::vector<LabelSet> nodes, Objective objective) {
  if (nodes.size() == 1) return 0;
  double least = kInfinity;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t j = i + 1; j < nodes.size(); ++j) {
      LabelSet needed = network.output;
      std::vector<LabelSet> rest;
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (k == i || k == j) continue;
        rest.push_back(nodes[k]);
        needed = needed | nodes[k];
      }
      const LabelSet all = nodes[i] | nodes[j], result = all & needed;
      const double mac = product_of_extents(network, all);
      const double cost = objective == Objective::kMac     ? mac
                          : objective == Objective::kWrite ? product_of_extents(network, result)
                          : all == result                  ? mac
                                                           : 2 * mac;
      rest.push_back(result);
      least = std::min(least, cost + cheapest_of_all(network, rest, objective));
    }
  }
  return least;
}

TEST(Search, ExactEqualsTryingAllOrders) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto network = random_network(2 + static_cast<int>(seed % 4), 3, 4, seed);
    for (const auto objective : {Objective::kMac, Objective::kFlop, Objective::kWrite}) {
      EXPECT_EQ(best(network, objective), cheapest_of_all(network, network.terms, objective))
          << "seed " << seed << " " << name_of(objective);
    }
  }
}

TEST(Search, ManyLabelsDoNotMatter) {
  // Each label twice, so that fusing does not bring them below 64.
  Network network;
  for (int i = 0; i < 14; ++i) network.terms.emplace_back();
  for (int i = 0; i < 14; ++i) {
    for (int j = i + 1; j < 14; ++j) {
      const Label l = static_cast<Label>(network.extents.size());
      network.extents.push_back(1 + (i + j) % 2);
      network.terms[static_cast<std::size_t>(i)].insert(l);
      network.terms[static_cast<std::size_t>(j)].insert(l);
    }
  }
  const auto found = search(network, {.objective = Objective::kMac});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->optimal);
  const auto greedy = search_greedy(network, {.objective = Objective::kMac}, {}, kInfinity);
  EXPECT_LE(found->cost, cost_of(network, *greedy, Objective::kMac, nullptr));
}

TEST(Search, LargeNetworksAreNoWorseThanRandomGreedy) {
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const auto network = random_network(100, 3, 8, seed);
    const SearchOptions options{.objective = Objective::kMac, .seed = seed};
    const auto greedy = search_random_greedy(network, options);
    const auto found = search(network, options);
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->optimal);
    EXPECT_LE(found->cost, cost_of(network, greedy.back(), Objective::kMac, nullptr));
    EXPECT_LE(found->lower_bound, found->cost);
    EXPECT_EQ(found->tree.merges.size(), 99u);
  }
}

TEST(Search, IsDeterministicWhateverTheThreads) {
  const auto network = random_network(40, 3, 6, 5);
  const auto one = search(network, {.objective = Objective::kMac, .tries = 16, .threads = 1});
  const auto two = search(network, {.objective = Objective::kMac, .tries = 16, .threads = 3});
  EXPECT_EQ(one->tree.merges, two->tree.merges);
}

TEST(Search, MoreTriesFindNoWorse) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const auto network = random_network(28, 3, 3, seed);
    double before = kInfinity;
    for (const int tries : {1, 2, 7, 16, 30, 33, 64}) {
      const auto found =
          search(network, {.objective = Objective::kMac, .tries = tries, .seed = seed});
      EXPECT_LE(found->cost, before) << tries << " tries, seed " << seed;
      before = found->cost;
    }
  }
}

TEST(Search, ABudgetMakesMoreRoundsAndFindsNoWorse) {
  const auto network = random_network(24, 3, 3, 2);
  const SearchOptions once{.objective = Objective::kMac, .tries = 1};
  const auto first = search(network, once);
  EXPECT_EQ(first->rounds, 1);
  auto longer = once;
  longer.budget_s = 0.5;  // a round of so few terms takes a few hundredths
  const auto more = search(network, longer);
  EXPECT_GT(more->rounds, 1);
  EXPECT_LE(more->cost, first->cost);
}

TEST(Search, ProductsOfFewExtentsAreThoseOfMany) {
  // Three extents are powers, four a table; the same order costs the same.
  auto few = random_network(20, 3, 2, 4);
  for (std::size_t l = 0; l < few.extents.size(); ++l)
    few.extents[l] = std::array{2., 3., 5.}[l % 3];
  auto many = few;
  many.extents.push_back(7);  // of a label that no term has
  const SearchOptions options{.objective = Objective::kMac, .tries = 4};
  const auto a = search(few, options), b = search(many, options);
  EXPECT_EQ(a->cost, cost_of(few, a->tree, Objective::kMac, nullptr));
  EXPECT_EQ(a->cost, cost_of(few, b->tree, Objective::kMac, nullptr));
}

TEST(Search, AnnealingKeepsATreeAndItsBound) {
  const auto network = random_network(30, 3, 4, 7);
  SearchOptions options{.objective = Objective::kFlop};
  const auto start = search_greedy(network, options, {}, kInfinity);
  const auto cost = [&](const Tree& tree) {
    return cost_of(network, tree, Objective::kFlop, nullptr);
  };
  const auto tree = search_annealing(network, options, *start, 1);
  EXPECT_LE(cost(tree), cost(*start));
  std::vector<int> used(59, 0);  // every node but the last is read once
  for (const auto& [a, b] : tree.merges) {
    ++used[static_cast<std::size_t>(a)];
    ++used[static_cast<std::size_t>(b)];
  }
  EXPECT_EQ(std::ranges::count(used, 1), 58);
  EXPECT_EQ(used.back(), 0);
  double largest = 0;
  const auto nodes = node_labels(network, *start);
  for (std::size_t i = 30; i + 1 < nodes.size(); ++i) {
    largest = std::max(largest, product_of_extents(network, nodes[i]));
  }
  options.max_elements = largest;
  const auto bounded = node_labels(network, search_annealing(network, options, *start, 2));
  for (std::size_t i = 30; i + 1 < bounded.size(); ++i) {
    EXPECT_LE(product_of_extents(network, bounded[i]), largest);
  }
}

TEST(Search, WindowsReachTheOptimumOfASmallNetwork) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto network = random_network(9, 3, 6, seed);
    const SearchOptions options{.objective = Objective::kFlop};
    const auto greedy = search_greedy(network, options, {}, kInfinity);
    const auto improved = improve_windows(network, options, *greedy);
    EXPECT_EQ(cost_of(network, improved, Objective::kFlop, nullptr),
              best(network, Objective::kFlop));
  }
}

TEST(Search, KeepsToTheLargestResult) {
  // The chain's best order makes a 100×50 result; a cap below that forces the other one.
  const auto network = network_of("ij,jk,kl->il", {100, 2, 50, 3});
  const auto free = search(network, {.objective = Objective::kMac});
  const auto capped = search(network, {.objective = Objective::kMac, .max_elements = 100});
  ASSERT_TRUE(free && capped);
  for (std::size_t i = 3; i + 1 < 5; ++i) {
    EXPECT_LE(product_of_extents(network, node_labels(network, capped->tree)[i]), 100);
  }
  EXPECT_FALSE(search(network, {.objective = Objective::kMac, .max_elements = 1}));
}

TEST(Search, OneTermNeedsNoStep) {
  const auto found = search(network_of("ij->i", {3, 4}), {.objective = Objective::kMac});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->tree.merges.empty());
}

TEST(Search, DisconnectedPartsMeetInOuterProducts) {
  const auto network = network_of("ij,jk,ab,bc->ikac", {3, 4, 5, 2, 6, 7});
  EXPECT_EQ(best(network, Objective::kMac), 3 * 4 * 5 + 2 * 6 * 7 + 3 * 5 * 2 * 7);
}

}  // namespace
}  // namespace assay::einsum
