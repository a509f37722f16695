// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/median_interval.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "lab/stats/sign_interval.h"

namespace assay::lab {

std::optional<Interval> median_interval(std::span<const double> values, double confidence) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) fail("value {} is not finite: {}", i, values[i]);
  }
  const int n = static_cast<int>(values.size());
  const auto rank = sign_interval_rank(n, confidence);
  if (!rank) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return Interval{sorted[static_cast<std::size_t>(*rank - 1)],
                  sorted[static_cast<std::size_t>(n - *rank)], sign_interval_coverage(n, *rank)};
}

}  // namespace assay::lab
