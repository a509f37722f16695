// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/rank_sum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "lab/stats/distributions.h"

namespace assay::lab {
namespace {

// Of i x's and j y's the largest is an x with chance i/(i + j), and then beats all j y's; otherwise
// it adds nothing. Hence p_ij(u) = i/(i+j)·p_(i−1)j(u−j) + j/(i+j)·p_i(j−1)(u): sums of positive
// numbers only, so that the small tail probabilities keep their relative accuracy.
std::vector<double> exact_probabilities(int m, int n) {
  std::vector<std::vector<double>> p(static_cast<std::size_t>(n) + 1, {1.0});  // i = 0: u = 0
  for (int i = 1; i <= m; ++i) {
    for (int j = 1; j <= n; ++j) {  // p[j − 1] is already that of i, p[j] still that of i − 1
      auto& here = p[static_cast<std::size_t>(j)];
      const auto& fewer_y = p[static_cast<std::size_t>(j) - 1];
      const double with_x = static_cast<double>(i) / (i + j), with_y = 1 - with_x;
      std::vector<double> next(static_cast<std::size_t>(i) * static_cast<std::size_t>(j) + 1);
      for (std::size_t u = 0; u < here.size(); ++u) {
        next[u + static_cast<std::size_t>(j)] += with_x * here[u];
      }
      for (std::size_t u = 0; u < fewer_y.size(); ++u) next[u] += with_y * fewer_y[u];
      here = std::move(next);
    }
  }
  return p[static_cast<std::size_t>(n)];
}

}  // namespace

RankSum::RankSum(int m, int n) : m_(m), n_(n) {
  if (m < 1 || n < 1) fail("a rank sum needs values on both sides, got {} and {}", m, n);
  if (static_cast<long>(m) * n > kExactPairs) return;
  cdf_ = exact_probabilities(m, n);
  double sum = 0;
  for (double& p : cdf_) p = sum += p;
}

double RankSum::at_most(long u) const {
  const long pairs = static_cast<long>(m_) * n_;
  if (u < 0) return 0;
  if (u >= pairs) return 1;
  if (exact()) return std::min(1.0, cdf_[static_cast<std::size_t>(u)]);
  const double mean = 0.5 * static_cast<double>(pairs);
  const double sigma = std::sqrt(static_cast<double>(pairs) * (m_ + n_ + 1.0) / 12);
  return normal_cdf((static_cast<double>(u) + 0.5 - mean) / sigma);
}

std::optional<long> RankSum::interval_rank(double confidence) const {
  if (!(confidence > 0 && confidence < 1)) {
    fail("the confidence must lie between 0 and 1, got {}", confidence);
  }
  const double limit = (1 - confidence) / 2;
  if (at_most(0) > limit) return std::nullopt;
  long low = 1, high = static_cast<long>(m_) * n_;  // k = low holds, k = high does not
  while (high - low > 1) {
    const long middle = low + (high - low) / 2;
    (at_most(middle - 1) <= limit ? low : high) = middle;
  }
  return low;
}

}  // namespace assay::lab
