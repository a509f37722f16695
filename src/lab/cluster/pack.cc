// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/pack.h"

#include <algorithm>
#include <numeric>

namespace assay::lab {

std::vector<std::vector<std::size_t>> pack(std::span<const double> seconds,
                                           const PackLimits& limits) {
  std::vector<std::size_t> order(seconds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](auto a, auto b) { return seconds[a] > seconds[b]; });
  double left = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  const double least = std::min(kLeastTaskS, left / limits.nodes);

  std::vector<std::vector<std::size_t>> tasks;
  for (std::size_t next = 0; next < order.size() && tasks.size() < limits.most_tasks;) {
    const double wanted = std::min(limits.longest_s, std::max(least, left / (2.0 * limits.nodes)));
    double taken = 0;
    std::vector<std::size_t> task;
    do {
      taken += seconds[order[next]];
      task.push_back(order[next++]);
    } while (next < order.size() && taken + seconds[order[next]] <= wanted);
    left -= taken;
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace assay::lab
