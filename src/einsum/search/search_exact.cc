// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/search/search_exact.h"

//
// Dynamic programming over all subsets of terms. The labels that the result of a subset keeps do
// not depend on how it was made, so the best way to make S is the best way to make some A ⊂ S, the
// best way to make S∖A, and one step. All 3ⁿ/2 splits are looked at, outer products included:
// leaving those out, as is often done, misses optima (docs/methods/einsum.md).
#include <algorithm>

#include "base/error.h"
#include "einsum/labels/pair_cost.h"

namespace assay::einsum {
namespace {

constexpr std::size_t kMaxTerms = 20;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Set>
Set narrowed(const LabelSet& wide) {
  Set set;
  wide.for_each([&](Label l) { set.insert(l); });
  return set;
}

template <typename Set>
class ExactSearch {
 public:
  ExactSearch(const Network& network, const SearchOptions& options)
      : step_(network.extents, options.objective, options.time), options_(options) {
    for (const auto& term : network.terms) terms_.push_back(narrowed<Set>(term));
    output_ = narrowed<Set>(network.output);
  }

  std::optional<Tree> run(double bound) {
    const std::uint32_t full = (std::uint32_t{1} << terms_.size()) - 1;
    find_results(full);
    cost_.assign(full + 1, kInfinity);
    split_.assign(full + 1, 0);
    for (std::size_t t = 0; t < terms_.size(); ++t) cost_[std::size_t{1} << t] = 0;
    for (std::uint32_t s = 3; s <= full; ++s) {
      if ((s & (s - 1)) == 0) continue;
      if (s != full && step_.product(result_[s]) > options_.max_elements) continue;
      best_split(s, bound);
    }
    if (cost_[full] == kInfinity) return std::nullopt;
    Tree tree;
    make(full, tree);
    return tree;
  }

 private:
  // result_[s]: labels of the terms of s that terms outside it or the output need.
  void find_results(std::uint32_t full) {
    std::vector<Set> together(full + 1);
    for (std::uint32_t s = 1; s <= full; ++s) {
      together[s] = together[s & (s - 1)] | terms_[static_cast<std::size_t>(std::countr_zero(s))];
    }
    result_.resize(full + 1);
    for (std::uint32_t s = 1; s <= full; ++s) {
      result_[s] = together[s] & (together[full & ~s] | output_);
    }
    for (std::size_t t = 0; t < terms_.size(); ++t) result_[std::size_t{1} << t] = terms_[t];
  }

  void best_split(std::uint32_t s, double bound) {
    const std::uint32_t low = s & (~s + 1), rest = s ^ low;
    double best = bound;
    std::uint32_t best_part = 0;
    // The lowest term is in part a, so that each split is seen once.
    for (std::uint32_t sub = (rest - 1) & rest;; sub = (sub - 1) & rest) {
      const std::uint32_t a = low | sub, b = s ^ a;
      const double before = cost_[a] + cost_[b];
      if (before < best) {
        const double total = before + step_(result_[a], result_[b], result_[s]);
        if (total < best) {
          best = total;
          best_part = a;
        }
      }
      if (sub == 0) break;
    }
    if (best_part == 0) return;
    cost_[s] = best;
    split_[s] = best_part;
  }

  int make(std::uint32_t s, Tree& tree) const {
    if (split_[s] == 0) return std::countr_zero(s);
    const int a = make(split_[s], tree), b = make(s ^ split_[s], tree);
    tree.merges.emplace_back(a, b);
    return static_cast<int>(terms_.size() + tree.merges.size()) - 1;
  }

  PairCost<Set> step_;
  const SearchOptions& options_;
  std::vector<Set> terms_, result_;
  Set output_;
  std::vector<double> cost_;
  std::vector<std::uint32_t> split_;
};

}  // namespace

std::optional<Tree> search_exact(const Network& original, const SearchOptions& options,
                                 double bound) {
  check(original.terms.size() <= kMaxTerms, "the exact search takes at most 20 terms");
  if (original.terms.size() <= 1) return Tree{};
  const Network network = fuse_labels(original);
  if (network.extents.size() <= 64) {
    return ExactSearch<BasicLabelSet<1>>(network, options).run(bound);
  }
  if (network.extents.size() <= 128) {
    return ExactSearch<BasicLabelSet<2>>(network, options).run(bound);
  }
  return ExactSearch<LabelSet>(network, options).run(bound);
}

}  // namespace assay::einsum
