// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The distribution of the statistic U of Mann and Whitney when both samples come from one
// distribution: the number of pairs (x_i, y_j) with x_i > y_j, among m·n.

#include <optional>
#include <vector>

namespace assay::lab {

class RankSum {
 public:
  // Above this product m·n (200 attempts a side) the exact distribution, which costs (m·n)²/4
  // additions (half a second there), gives way to the normal one with continuity correction, whose
  // error at 200 a side is 2.1e-4 at most.
  static constexpr long kExactPairs = 40'000;

  // Throws UserError unless both sizes are at least 1.
  RankSum(int m, int n);

  int m() const { return m_; }
  int n() const { return n_; }
  bool exact() const { return !cdf_.empty(); }

  // P(U ≤ u); 0 for u < 0, 1 for u ≥ m·n. P(U ≥ u) = at_most(m·n − u), since U is symmetric.
  double at_most(long u) const;

  // The rank k of the interval [D_(k), D_(mn+1−k)] of all pair differences that covers the shift
  // with at least this confidence: the largest k with P(U ≤ k − 1) ≤ α/2. Nothing when there is
  // none. Throws UserError unless 0 < confidence < 1.
  std::optional<long> interval_rank(double confidence) const;

 private:
  int m_, n_;
  std::vector<double> cdf_;  // empty: normal approximation
};

}  // namespace assay::lab
