// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/search/search_greedy.h"

#include <algorithm>
#include <cmath>

#include "base/attend.h"
#include "base/philox.h"
#include "einsum/labels/pair_cost.h"

namespace assay::einsum {
namespace {

struct Candidate {
  int a, b;  // nodes, a < b
  LabelSet result;
  double score;
};

class Greedy {
 public:
  Greedy(const Network& network, const SearchOptions& options, const GreedyOptions& greedy)
      : network_(network),
        options_(options),
        greedy_(greedy),
        step_(network.extents, options.objective, options.time),
        random_(greedy.seed, stream_key("greedy")),
        users_(network.extents.size(), 0),
        nodes_(network.terms) {
    for (const auto& term : nodes_) count(term, 1);
    count(network.output, 1);
  }

  std::optional<Tree> run(double bound) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      sizes_.push_back(step_.product(nodes_[i]));
      live_.push_back(static_cast<int>(i));
    }
    for (std::size_t i = 0; i < live_.size(); ++i) add_candidates(static_cast<int>(i), i);
    Tree tree;
    double cost = 0;
    while (live_.size() > 1) {
      const Candidate chosen = candidates_.empty() ? two_smallest() : choose();
      cost += step_(node(chosen.a), node(chosen.b), chosen.result);
      if (cost >= bound) return std::nullopt;
      tree.merges.emplace_back(chosen.a, chosen.b);
      merge(chosen);
    }
    return tree;
  }

 private:
  const LabelSet& node(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  double size(int i) const { return sizes_[static_cast<std::size_t>(i)]; }

  void count(const LabelSet& set, int change) {
    set.for_each([&](Label l) { users_[static_cast<std::size_t>(l)] += change; });
  }

  Candidate candidate(int a, int b) const {
    const LabelSet both = node(a) & node(b);
    LabelSet result = node(a) | node(b);
    result.for_each([&](Label l) {
      if (users_[static_cast<std::size_t>(l)] == (both.contains(l) ? 2 : 1)) result.erase(l);
    });
    return {std::min(a, b), std::max(a, b), result,
            step_.product(result) - greedy_.alpha * (size(a) + size(b))};
  }

  // Pairs of the node with the first `among` live nodes that share a label with it.
  void add_candidates(int made, std::size_t among) {
    for (std::size_t i = 0; i < among; ++i) {
      const int other = live_[i];
      if (other != made && !(node(other) & node(made)).empty()) {
        candidates_.push_back(candidate(other, made));
      }
    }
  }

  Candidate choose() {
    double least = candidates_.front().score;
    for (const auto& c : candidates_) least = std::min(least, c.score);
    // A Gumbel number added to −score/T makes the largest one a draw with Boltzmann weights.
    const double scale = greedy_.temperature * std::max(1.0, std::abs(least));
    const Candidate* best = nullptr;
    double best_value = 0;
    for (const auto& c : candidates_) {
      double value = c.score;
      if (scale > 0) {
        const double u = unit_interval(random_[draws_++]);
        value += scale * std::log(-std::log(u + 0x1p-54));
      }
      if (best == nullptr || value < best_value) {
        best = &c;
        best_value = value;
      }
    }
    return *best;
  }

  // Nothing shares a label any more: outer products, small ones first.
  Candidate two_smallest() const {
    auto order = live_;
    std::ranges::sort(order, {}, [&](int i) { return std::pair(size(i), i); });
    return candidate(order[0], order[1]);
  }

  void merge(const Candidate& chosen) {
    const LabelSet shared = node(chosen.a) & node(chosen.b) & chosen.result;
    count(node(chosen.a), -1);
    count(node(chosen.b), -1);
    count(chosen.result, 1);
    const int made = static_cast<int>(nodes_.size());
    nodes_.push_back(chosen.result);
    sizes_.push_back(step_.product(chosen.result));
    const auto gone = [&](int i) { return i == chosen.a || i == chosen.b; };
    std::erase_if(live_, gone);
    std::erase_if(candidates_, [&](const Candidate& c) { return gone(c.a) || gone(c.b); });
    // A label with one user less may now be summed by another pair.
    for (auto& c : candidates_) {
      if (!((node(c.a) | node(c.b)) & shared).empty()) c = candidate(c.a, c.b);
    }
    live_.push_back(made);
    add_candidates(made, live_.size() - 1);
  }

  const Network& network_;
  const SearchOptions& options_;
  GreedyOptions greedy_;
  PairCost<LabelSet> step_;
  Philox random_;
  std::uint64_t draws_ = 0;
  std::vector<int> users_;
  std::vector<LabelSet> nodes_;
  std::vector<double> sizes_;
  std::vector<int> live_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::optional<Tree> search_greedy(const Network& network, const SearchOptions& options,
                                  const GreedyOptions& greedy, double bound) {
  return Greedy(network, options, greedy).run(bound);
}

std::vector<Tree> search_random_greedy(const Network& network, const SearchOptions& options) {
  // Tries do not see each other's results, so that the outcome does not depend on the threads.
  const auto first = search_greedy(network, options, {}, std::numeric_limits<double>::infinity());
  const auto cost = [&](const Tree& tree) {
    return cost_of(network, tree, options.objective, options.time);
  };
  const double bound = cost(*first);
  std::vector<std::optional<Tree>> trees(static_cast<std::size_t>(options.tries));
  Attention* const attention = attention_here;
#pragma omp parallel for schedule(dynamic) num_threads(options.threads)
  for (int i = 1; i < options.tries; ++i) {
    if (!still_wanted(attention)) continue;
    const Philox random(options.seed, stream_key("tries"));
    const auto draw = [&](int j) {
      return unit_interval(random[static_cast<std::uint64_t>(2 * i + j)]);
    };
    trees[static_cast<std::size_t>(i)] =
        search_greedy(network, options,
                      {.alpha = 0.5 + draw(0),
                       .temperature = std::pow(10.0, -3 + 3 * draw(1)),
                       .seed = options.seed * 1000003 + static_cast<std::uint64_t>(i)},
                      bound);
  }
  attend();
  std::vector<Tree> records = {*first};
  double best_cost = bound;
  for (auto& tree : trees) {
    if (!tree) continue;
    const double c = cost(*tree);
    if (c >= best_cost) continue;
    best_cost = c;
    records.push_back(std::move(*tree));
  }
  return records;
}

}  // namespace assay::einsum
