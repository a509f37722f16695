// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/distributions.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace assay::lab {
namespace {

// Where a function that falls from above `target` to below it crosses, to the last bit.
template <typename Falling>
double crossing(double low, double high, double target, Falling f) {
  for (int step = 0; step < 200; ++step) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (f(middle) > target ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double normal_quantile(double p) {
  if (!(p > 0 && p < 1)) fail("normal quantile: the level must lie between 0 and 1, got {}", p);
  if (p == 0.5) return 0;
  if (p > 0.5) return -normal_quantile(1 - p);  // the lower tail keeps its relative accuracy
  return -crossing(0, 40, p, [](double x) { return normal_cdf(-x); });
}

double binomial_cdf(int n, int k, double p) {
  if (!(p >= 0 && p <= 1)) fail("binomial: the chance must lie between 0 and 1, got {}", p);
  if (k < 0) return 0;
  if (k >= n || p == 0) return 1;
  if (p == 1) return 0;
  // By logarithms, since p^n underflows where the sum does not.
  const double odds = std::log(p) - std::log1p(-p);
  double term = n * std::log1p(-p), sum = 0;
  for (int i = 0;; ++i) {
    sum += std::exp(term);
    if (i == k) return std::fmin(sum, 1.0);
    term += std::log(static_cast<double>(n - i) / (i + 1)) + odds;
  }
}

Interval clopper_pearson(int k, int n, double confidence) {
  if (k < 0 || k > n) fail("a rate needs 0 ≤ successes ≤ trials, got {} of {}", k, n);
  if (!(confidence > 0 && confidence < 1)) {
    fail("the confidence must lie between 0 and 1, got {}", confidence);
  }
  const double tail = (1 - confidence) / 2;
  // The ends are the chances under which k or less, respectively k or more, has chance α/2.
  Interval interval{0, 1, confidence};
  if (k > 0) {
    interval.low = crossing(0, 1, 1 - tail, [&](double p) { return binomial_cdf(n, k - 1, p); });
  }
  if (k < n) interval.high = crossing(0, 1, tail, [&](double p) { return binomial_cdf(n, k, p); });
  return interval;
}

}  // namespace assay::lab
