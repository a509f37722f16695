// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace assay::lab {

struct PackLimits {
  int nodes = 1;
  double longest_s = std::numeric_limits<double>::infinity();  // of a task
  std::size_t most_tasks = 1000;  // by default Slurm's arrays end there
};

// Points, by the time each is predicted to take, put together into tasks that are started in this
// order. The longest points come first, and a task gets half of what would be its node's share of
// all that is left: the first tasks are long, so that there are few of them, the last are short, so
// that nodes end together whatever the predictions were worth ("guided self-scheduling"). No task
// is shorter than kLeastTaskS, which start-up would dominate, unless nodes would be left without
// one. Returns indices; those beyond most_tasks are left out.
std::vector<std::vector<std::size_t>> pack(std::span<const double> seconds,
                                           const PackLimits& limits);

inline constexpr double kLeastTaskS = 20;

}  // namespace assay::lab
