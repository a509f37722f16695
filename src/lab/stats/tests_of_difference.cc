// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/tests_of_difference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/error.h"
#include "lab/stats/random.h"
#include "lab/stats/sign_interval.h"

namespace assay::lab {
namespace {

void check_finite(std::span<const double> values, const char* what) {
  for (const double value : values) {
    if (!std::isfinite(value)) fail("{}: a value is not finite: {}", what, value);
  }
}

// As much or more, where sums of the same numbers in another order differ by rounding: what should
// be equal must count as equal, or p would come out too small.
bool as_extreme(double drawn, double seen, double scale) { return drawn >= seen - 1e-12 * scale; }

double one_in(int as_extreme_count, int permutations) {
  return (as_extreme_count + 1.0) / (permutations + 1.0);
}

// Positions of p from the smallest to the largest.
std::vector<std::size_t> ascending(std::span<const double> p) {
  for (const double value : p) {
    if (!(value >= 0 && value <= 1)) fail("a p-value must lie between 0 and 1, got {}", value);
  }
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  return order;
}

}  // namespace

double sign_test(std::span<const double> d, double threshold) {
  int above = 0;
  for (const double value : d) {
    if (std::isnan(value)) fail("sign test: a value is not a number: {}", value);
    above += value > threshold;
  }
  const int n = static_cast<int>(d.size());
  return fair_binomial_cdf(n, n - above);  // P(X ≥ above) = P(X ≤ n − above)
}

double sign_flip_p(std::span<const double> d, std::uint64_t seed, int permutations) {
  check(permutations >= 1, "a permutation test draws permutations");
  check_finite(d, "sign flips");
  double sum = 0, scale = 0;
  for (const double value : d) {
    sum += value;
    scale += std::fabs(value);
  }
  if (d.empty() || scale == 0) return 1;
  RandomStream random(seed, "flips");
  int count = 0;
  for (int m = 0; m < permutations; ++m) {
    double drawn = 0;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (i % 64 == 0) bits = random.raw();
      drawn += (bits & 1) != 0 ? d[i] : -d[i];
      bits >>= 1;
    }
    count += as_extreme(std::fabs(drawn), std::fabs(sum), scale);
  }
  return one_in(count, permutations);
}

double label_permutation_p(std::span<const double> a, std::span<const double> b, std::uint64_t seed,
                           int permutations) {
  check(permutations >= 1, "a permutation test draws permutations");
  check_finite(a, "label permutation");
  check_finite(b, "label permutation");
  if (a.empty() || b.empty()) return 1;
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  const double mean =
      std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  double scale = 0;
  for (double& value : all) {
    value -= mean;  // so that rounding is relative to the spread, not to the level
    scale += std::fabs(value);
  }
  // With the total fixed (zero), the sum over b's places orders as the difference of means does.
  const auto statistic = [&] {
    return std::fabs(
        std::accumulate(all.begin() + static_cast<std::ptrdiff_t>(a.size()), all.end(), 0.0));
  };
  const double seen = statistic();
  if (scale == 0) return 1;
  RandomStream random(seed, "labels");
  int count = 0;
  for (int m = 0; m < permutations; ++m) {
    shuffle(std::span(all), random);
    count += as_extreme(statistic(), seen, scale);
  }
  return one_in(count, permutations);
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<double> adjusted(p.size());
  double largest = 0;
  std::size_t left = p.size();
  for (const std::size_t i : ascending(p)) {
    largest = std::max(largest, std::min(1.0, p[i] * static_cast<double>(left--)));
    adjusted[i] = largest;
  }
  return adjusted;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  std::vector<double> adjusted(p.size());
  auto order = ascending(p);
  double smallest = 1;
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const std::size_t i = order[rank - 1];
    smallest = std::min(smallest, p[i] * static_cast<double>(p.size()) / static_cast<double>(rank));
    adjusted[i] = smallest;
  }
  return adjusted;
}

}  // namespace assay::lab
