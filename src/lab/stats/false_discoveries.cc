// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/false_discoveries.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "base/error.h"

namespace assay::lab {

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  for (const double value : p) {
    if (!(value >= 0 && value <= 1)) fail("a p-value must lie between 0 and 1, got {}", value);
  }
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double smallest = 1;
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const std::size_t i = order[rank - 1];
    smallest = std::min(smallest, p[i] * static_cast<double>(p.size()) / static_cast<double>(rank));
    adjusted[i] = smallest;
  }
  return adjusted;
}

}  // namespace assay::lab
