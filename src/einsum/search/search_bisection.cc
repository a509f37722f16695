// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/search/search_bisection.h"

//
// Recursive bisection: terms are the vertices of a hypergraph, labels its edges with weight
// log(extent). A side grows from one term, always by the term that leaves the lightest cut; single
// moves then improve it (Fiduccia and Mattheyses, with recomputed gains: networks are small).
#include <algorithm>
#include <cmath>

#include "base/philox.h"

#include "einsum/search/search_exact.h"

namespace assay::einsum {
namespace {

constexpr std::size_t kPiece = 10;      // searched exactly
constexpr double kLightestSide = 0.35;  // of the terms, at least
constexpr int kMaxPasses = 4;

class Bisection {
 public:
  Bisection(const Network& network, const SearchOptions& options, std::uint64_t seed)
      : network_(network), options_(options), random_(seed, stream_key("bisect")) {
    for (const double extent : network.extents) weights_.push_back(std::log(std::max(extent, 1.0)));
  }

  Tree run() {
    std::vector<int> all(network_.terms.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    solve(all);
    return std::move(tree_);
  }

 private:
  // Appends the merges of these terms to the tree; returns the node of their result.
  int solve(const std::vector<int>& terms) {
    if (terms.size() <= kPiece) return solve_piece(terms);
    const auto side = cut(terms);
    std::vector<int> left, right;
    for (std::size_t i = 0; i < terms.size(); ++i) (side[i] ? left : right).push_back(terms[i]);
    const int a = solve(left), b = solve(right);
    tree_.merges.emplace_back(a, b);
    return static_cast<int>(network_.terms.size() + tree_.merges.size()) - 1;
  }

  int solve_piece(const std::vector<int>& terms) {
    if (terms.size() == 1) return terms[0];
    std::vector<bool> inside(network_.terms.size(), false);
    for (const int t : terms) inside[static_cast<std::size_t>(t)] = true;
    Network piece{network_.extents, {}, network_.output};
    for (std::size_t t = 0; t < network_.terms.size(); ++t) {
      if (inside[t]) {
        piece.terms.push_back(network_.terms[t]);
      } else {
        piece.output = piece.output | network_.terms[t];
      }
    }
    LabelSet together;
    for (const auto& term : piece.terms) together = together | term;
    piece.output = piece.output & together;
    SearchOptions options = options_;
    options.max_elements = std::numeric_limits<double>::infinity();
    const auto order = search_exact(piece, options);
    std::vector<int> sorted(terms);
    std::ranges::sort(sorted);
    std::vector<int> node_of(sorted);
    for (const auto& [a, b] : order->merges) {
      tree_.merges.emplace_back(node_of[static_cast<std::size_t>(a)],
                                node_of[static_cast<std::size_t>(b)]);
      node_of.push_back(static_cast<int>(network_.terms.size() + tree_.merges.size()) - 1);
    }
    return node_of.back();
  }

  double cut_weight(const std::vector<int>& terms, const std::vector<bool>& side) const {
    LabelSet left, right;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      auto& mine = side[i] ? left : right;
      mine = mine | network_.terms[static_cast<std::size_t>(terms[i])];
    }
    double weight = 0;
    (left & right).for_each([&](Label l) { weight += weights_[static_cast<std::size_t>(l)]; });
    return weight;
  }

  std::vector<bool> cut(const std::vector<int>& terms) {
    std::vector<bool> side(terms.size(), false);
    side[uniform_below(random_[draws_++], terms.size())] = true;
    const auto least =
        static_cast<std::size_t>(std::ceil(kLightestSide * static_cast<double>(terms.size())));
    for (std::size_t grown = 1; grown < terms.size() / 2; ++grown) flip_best(terms, side, false);
    // Single moves, while they lighten the cut and keep the balance.
    double weight = cut_weight(terms, side);
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      bool moved = false;
      for (std::size_t i = 0; i < terms.size(); ++i) {
        side[i] = !side[i];
        const auto left = static_cast<std::size_t>(std::ranges::count(side, true));
        const bool balanced = left >= least && terms.size() - left >= least;
        const double changed = balanced ? cut_weight(terms, side) : weight;
        if (balanced && changed < weight) {
          weight = changed;
          moved = true;
        } else {
          side[i] = !side[i];
        }
      }
      if (!moved) break;
    }
    return side;
  }

  // Moves the term of the side `from` whose move leaves the lightest cut.
  void flip_best(const std::vector<int>& terms, std::vector<bool>& side, bool from) const {
    std::size_t best = terms.size();
    double best_weight = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (side[i] != from) continue;
      side[i] = !from;
      const double weight = cut_weight(terms, side);
      side[i] = from;
      if (best == terms.size() || weight < best_weight) {
        best = i;
        best_weight = weight;
      }
    }
    side[best] = !from;
  }

  const Network& network_;
  const SearchOptions& options_;
  Philox random_;
  std::uint64_t draws_ = 0;
  std::vector<double> weights_;
  Tree tree_;
};

}  // namespace

Tree search_bisection(const Network& network, const SearchOptions& options, std::uint64_t seed) {
  return Bisection(network, options, seed).run();
}

}  // namespace assay::einsum
