// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/crossover.h"

#include "base/error.h"

namespace assay::lab {

std::optional<double> crossover(std::span<const double> x, std::span<const double> ratio) {
  check(x.size() == ratio.size(), "each x has a ratio");
  std::optional<double> from;
  for (std::size_t i = x.size(); i > 0 && ratio[i - 1] < 1; --i) from = x[i - 1];
  return from;
}

}  // namespace assay::lab
