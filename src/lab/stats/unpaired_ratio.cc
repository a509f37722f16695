// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/unpaired_ratio.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/error.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

std::vector<double> logarithms(std::span<const double> values, const char* side) {
  if (values.empty()) fail("unpaired ratio: side {} has no attempts", side);
  std::vector<double> logs;
  logs.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || values[i] <= 0) {
      fail("unpaired ratio: attempt {} of side {} is not positive and finite: {}", i, side,
           values[i]);
    }
    logs.push_back(std::log(values[i]));
  }
  return logs;
}

std::vector<double> pair_differences(std::span<const double> a, std::span<const double> b) {
  const auto log_a = logarithms(a, "a"), log_b = logarithms(b, "b");
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double x : log_a) {
    for (const double y : log_b) differences.push_back(y - x);
  }
  return differences;
}

}  // namespace

UnpairedRatio unpaired_ratio(std::span<const double> a, std::span<const double> b,
                             double confidence) {
  if (a.empty() || b.empty()) pair_differences(a, b);  // says which side has nothing
  return unpaired_ratio(a, b, RankSum(static_cast<int>(a.size()), static_cast<int>(b.size())),
                        confidence);
}

UnpairedRatio unpaired_ratio(std::span<const double> a, std::span<const double> b,
                             const RankSum& distribution, double confidence) {
  auto d = pair_differences(a, b);
  UnpairedRatio result{
      static_cast<int>(a.size()), static_cast<int>(b.size()), 0, {}, distribution.exact()};
  check(distribution.m() == result.a_count && distribution.n() == result.b_count,
        "the distribution is that of the sizes of both sides");
  std::ranges::sort(d);
  result.ratio = std::exp(median(d));
  if (const auto k = distribution.interval_rank(confidence)) {
    const auto rank = static_cast<std::size_t>(*k);
    result.interval = Interval{std::exp(d[rank - 1]), std::exp(d[d.size() - rank]),
                               1 - 2 * distribution.at_most(*k - 1)};
  }
  return result;
}

double rank_test(std::span<const double> a, std::span<const double> b, double threshold) {
  const auto d = pair_differences(a, b);
  const auto above = std::ranges::count_if(d, [&](double x) { return x > threshold; });
  const RankSum distribution(static_cast<int>(a.size()), static_cast<int>(b.size()));
  return distribution.at_most(static_cast<long>(d.size()) - static_cast<long>(above));
}

}  // namespace assay::lab
