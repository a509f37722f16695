// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "lab/record/row.h"

namespace assay::lab {

// What the rows of a run took, by what they themselves counted: differences of the wall clock would
// be wrong where somebody has set it. Rows of earlier versions did not count; their phases stand
// for it.
inline double time_spent_s(std::span<const Row> rows) {
  double sum = 0;
  for (const Row& row : rows) {
    if (const auto& counted = row.provenance.duration_s) {
      sum += *counted;
    } else if (row.provenance.phases_s) {
      for (const auto& [name, seconds] : *row.provenance.phases_s) sum += seconds;
    }
  }
  return sum;
}

// How long a run may take, shared out among its points. No attempt starts after the end, so that
// the budget is exceeded by at most the attempt that is under way then (one on each core group).
class Budget {
 public:
  // `total_s` 0: no limit. `used_s`: what earlier parts of a resumed run took.
  Budget(double total_s, double used_s, std::int64_t start_ns, int groups)
      : end_ns_(total_s > 0 ? start_ns + static_cast<std::int64_t>(1e9 * (total_s - used_s))
                            : std::numeric_limits<std::int64_t>::max()),
        groups_(groups) {}

  bool limited() const { return end_ns_ != std::numeric_limits<std::int64_t>::max(); }

  // Until when the attempts of a point may start that begins now, with so many points left
  // (including it): an even share of what is left; all of it for the last points.
  std::int64_t share_until(std::int64_t now_ns, int points_left) const {
    if (!limited()) return end_ns_;
    const double part = static_cast<double>(std::min(groups_, points_left)) / points_left;
    const double left = static_cast<double>(std::max<std::int64_t>(0, end_ns_ - now_ns));
    return now_ns + static_cast<std::int64_t>(part * left);
  }

 private:
  std::int64_t end_ns_;
  int groups_;
};

}  // namespace assay::lab
