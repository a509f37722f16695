// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/sign_interval.h"

#include <cmath>

#include "base/error.h"

namespace assay::lab {
namespace {

// Calls visit(k, P(Bin(n, ½) ≤ k)) for k = 0, 1, … until it returns false. The sum Σ C(n, i) is
// kept as sum·2^exponent: C(n, i) itself overflows from n = 1030, 2^−n underflows from 1075.
template <typename Visit>
void walk_cdf(int n, Visit visit) {
  double term = 1, sum = 1;
  int exponent = 0;
  for (int k = 0; k <= n; ++k) {
    if (!visit(k, std::ldexp(sum, exponent - n))) return;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    sum += term;
    if (sum > 0x1p500) {
      sum = std::ldexp(sum, -500);
      term = std::ldexp(term, -500);
      exponent += 500;
    }
  }
}

double half_alpha(double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    fail("the confidence must lie between 0 and 1, got {}", confidence);
  }
  return (1 - confidence) / 2;
}

}  // namespace

double fair_binomial_cdf(int n, int k) {
  check(n >= 0, "a number of trials is not negative");
  if (k < 0) return 0;
  if (k >= n) return 1;
  double result = 0;
  walk_cdf(n, [&](int i, double p) {
    result = p;
    return i < k;
  });
  return result;
}

std::optional<int> sign_interval_rank(int n, double confidence) {
  if (n < 0) fail("the number of rounds must not be negative, got {}", n);
  const double limit = half_alpha(confidence);
  int rank = 0;
  // P(Bin ≤ k − 1) ≤ α/2 < ½ keeps k − 1 below n/2, so that the two ends never cross.
  walk_cdf(n, [&](int below, double p) {
    if (p > limit) return false;
    rank = below + 1;
    return true;
  });
  if (rank == 0) return std::nullopt;
  return rank;
}

double sign_interval_coverage(int n, int k) {
  check(k >= 1 && k <= (n + 1) / 2, "the rank of an interval lies in the lower half");
  return 1 - 2 * fair_binomial_cdf(n, k - 1);
}

int minimum_rounds(double confidence) {
  // The widest interval fails when all values lie on one side: 2^−n ≤ α/2.
  const double limit = half_alpha(confidence);
  int n = 1;
  while (std::ldexp(1.0, -n) > limit) ++n;
  return n;
}

}  // namespace assay::lab
