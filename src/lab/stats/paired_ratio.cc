// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/paired_ratio.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "base/error.h"
#include "lab/stats/median_interval.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

double log_of_time(double value, std::size_t round) {
  if (!std::isfinite(value) || value <= 0) {
    fail("paired ratio: round {} has a value that is not positive and finite: {}", round, value);
  }
  return std::log(value);
}

}  // namespace

PairedRatio paired_ratio(std::span<const double> a, std::span<const double> b, double confidence) {
  check(a.size() == b.size(), "both sides of a paired ratio have the same rounds");
  if (a.empty()) fail("paired ratio: no rounds");
  std::vector<double> d(a.size());
  for (std::size_t r = 0; r < d.size(); ++r) d[r] = log_of_time(a[r], r) - log_of_time(b[r], r);
  return ratio_of_differences(d, confidence);
}

PairedRatio ratio_of_differences(std::span<const double> d, double confidence) {
  PairedRatio result{static_cast<int>(d.size()), std::exp(median(d)), std::nullopt};
  if (const auto logs = median_interval(d, confidence)) {
    result.interval = Interval{std::exp(logs->low), std::exp(logs->high), logs->coverage};
  }
  return result;
}

}  // namespace assay::lab
