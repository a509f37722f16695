// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/error.h"

namespace assay::lab {

double quantile(std::span<const double> values, double q) {
  if (!(q >= 0 && q <= 1)) fail("quantile: the level must lie between 0 and 1, got {}", q);
  if (values.empty()) fail("quantile: no values");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) fail("quantile: value {} is not finite: {}", i, values[i]);
  }
  std::vector<double> sorted(values.begin(), values.end());
  const double h = static_cast<double>(sorted.size() - 1) * q;
  const auto below = static_cast<std::size_t>(h);  // h ≥ 0: truncation is the floor
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(below);
  std::ranges::nth_element(sorted, middle);
  const double low = *middle;
  const double part = h - static_cast<double>(below);
  if (part == 0) return low;  // also the last value, which has none above it
  const double high = *std::min_element(middle + 1, sorted.end());
  // The form that cannot overflow where high − low would, and gives the mean exactly at ½.
  return (1 - part) * low + part * high;
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

}  // namespace assay::lab
