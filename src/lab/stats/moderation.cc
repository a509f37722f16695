// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/moderation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

constexpr double kLeastFreedom = 1, kMostFreedom = 30, kUnknownFreedom = 4;
constexpr std::size_t kEnoughRows = 5;

// ψ and ψ′ for x > 0: upwards by recurrence to where the asymptotic series is exact.
double digamma(double x) {
  double sum = 0;
  for (; x < 8; ++x) sum -= 1 / x;
  const double y = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y / 252));
}
double trigamma(double x) {
  double sum = 0;
  for (; x < 8; ++x) sum += 1 / (x * x);
  const double y = 1 / (x * x);
  return sum + (1 + 0.5 / x + y * (1.0 / 6 - y * (1.0 / 30 - y / 42))) / x;
}

// The freedom f with ψ′(f/2) = scatter; ψ′ falls, so that halving an interval finds it.
double freedom_for(double scatter) {
  double low = kLeastFreedom, high = kMostFreedom;
  if (scatter >= trigamma(low / 2)) return low;
  if (scatter <= trigamma(high / 2)) return high;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (trigamma(middle / 2) > scatter ? low : high) = middle;
  }
  return low;
}

}  // namespace

double VariancePrior::moderate(const RowVariance& row) const {
  const double all = freedom + row.freedom;
  return all > 0 ? (freedom * variance + row.freedom * row.variance) / all : 0;
}

VariancePrior fit_prior(std::span<const RowVariance> rows) {
  std::vector<RowVariance> known;
  std::vector<double> variances;
  for (const auto& row : rows) {
    if (row.freedom <= 0) continue;
    known.push_back(row);
    variances.push_back(row.variance);
  }
  if (known.empty()) return {};
  // A variance of zero is a coarse clock's word, and has no logarithm.
  const double typical = median(variances);
  if (typical == 0) return {};
  std::vector<double> logs;  // each without the bias that its few values give it
  double expected = 0;
  for (const auto& row : known) {
    const double half = row.freedom / 2;
    logs.push_back(std::log(std::max(row.variance, 1e-5 * typical)) - digamma(half) +
                   std::log(half));
    expected += trigamma(half) / static_cast<double>(known.size());
  }
  // Medians: rows that are unlike all others do not speak for them.
  const double centre = median(logs);
  if (known.size() < kEnoughRows) return {std::exp(centre), kUnknownFreedom};
  std::vector<double> squares;
  for (const double value : logs) squares.push_back((value - centre) * (value - centre));
  const double scatter = median(squares) / (0.67449 * 0.67449) - expected;
  return {std::exp(centre), freedom_for(scatter)};
}

}  // namespace assay::lab
