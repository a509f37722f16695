// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cost of one pairwise contraction, for searches that ask millions of times.

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "einsum/labels/network.h"

namespace assay::einsum {

template <typename Set>
class PairCost {
 public:
  PairCost(const std::vector<double>& extents, Objective objective, const PairTime* time)
      : objective_(objective), time_(time) {
    check(objective != Objective::kTime || time != nullptr, "a time objective has a time model");
    check(extents.size() <= static_cast<std::size_t>(Set::kCapacity), "the set holds all labels");
    // Where few extents differ, a product is a power of each of them.
    for (std::size_t l = 0; l < extents.size(); ++l) {
      if (extents[l] == 1) continue;
      auto same = std::ranges::find(powers_, extents[l], [](const Powers& p) { return p.of[1]; });
      if (same == powers_.end()) {
        powers_.push_back({{}, {1, extents[l]}});
        same = powers_.end() - 1;
      } else {
        same->of.push_back(same->of.back() * extents[l]);
      }
      same->labels.insert(static_cast<Label>(l));
    }
    constexpr std::size_t kFewExtents = 3;
    if (powers_.size() <= kFewExtents) return;
    powers_.clear();
    // Else products over all subsets of each eight labels: a product is then a few look-ups.
    tables_.resize((extents.size() + 7) / 8);
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      auto& table = tables_[t];
      table[0] = 1;
      for (std::size_t bits = 1; bits < table.size(); ++bits) {
        const auto low = static_cast<std::size_t>(std::countr_zero(bits));
        const std::size_t l = 8 * t + low;
        table[bits] = table[bits & (bits - 1)] * (l < extents.size() ? extents[l] : 1);
      }
    }
  }

  double product(const Set& set) const {
    double result = 1;
    for (const auto& power : powers_) {
      result *= power.of[static_cast<std::size_t>((set & power.labels).size())];
    }
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      result *= tables_[t][(set.words()[t / 8] >> (8 * (t % 8))) & 0xFF];
    }
    return result;
  }

  double operator()(const Set& a, const Set& b, const Set& result) const {
    switch (objective_) {
      case Objective::kMac:
        return product(a | b);
      case Objective::kFlop: {
        const Set all = a | b;
        return all == result ? product(all) : 2 * product(all);
      }
      case Objective::kWrite:
        return product(result);
      case Objective::kTime:
        return time_->seconds({.m = product((a - b) & result),
                               .n = product((b - a) & result),
                               .k = product((a | b) - result),
                               .batch = product(a & b & result)});
    }
    return 0;
  }

 private:
  Objective objective_;
  const PairTime* time_;
  struct Powers {
    Set labels;              // of one extent
    std::vector<double> of;  // its powers
  };
  std::vector<Powers> powers_;                   // either these
  std::vector<std::array<double, 256>> tables_;  // or these
};

}  // namespace assay::einsum
