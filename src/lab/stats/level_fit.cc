// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/level_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::lab {

void RunningMedian::add(const SeriesPoint& point) {
  const auto into_low = [this](const SeriesPoint& p) {
    low_.push(p);
    low_weight_ += p.weight;
    low_sum_ += p.weight * p.value;
  };
  const auto into_high = [this](const SeriesPoint& p) {
    high_.push(p);
    high_weight_ += p.weight;
    high_sum_ += p.weight * p.value;
  };
  if (low_.empty() || point.value <= low_.top().value) {
    into_low(point);
  } else {
    into_high(point);
  }
  while (low_weight_ < high_weight_) {
    const auto moved = high_.top();
    high_.pop();
    high_weight_ -= moved.weight;
    high_sum_ -= moved.weight * moved.value;
    into_low(moved);
  }
  while (low_weight_ - low_.top().weight > high_weight_ + low_.top().weight) {
    const auto moved = low_.top();
    low_.pop();
    low_weight_ -= moved.weight;
    low_sum_ -= moved.weight * moved.value;
    into_high(moved);
  }
}

double RunningMedian::cost() const {
  const double middle = median();
  return std::max(0.0, middle * (low_weight_ - high_weight_) - low_sum_ + high_sum_);
}

LevelFit fit_levels(std::span<const SeriesPoint> series, double price, std::size_t least) {
  const std::size_t n = series.size();
  if (n == 0) return {};
  // cost[j]: of the best fit of the first j points; came_from[j]: where its last level begins.
  std::vector<double> cost(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> came_from(n + 1, 0);
  cost[0] = -price;  // the first level is free
  double uncut = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (cost[i] == std::numeric_limits<double>::infinity()) continue;
    RunningMedian level;
    for (std::size_t j = i + 1; j <= n; ++j) {
      level.add(series[j - 1]);
      if (j - i < least && j - i < n) continue;  // too short, unless it is the whole
      const double with = cost[i] + price + level.cost();
      if (with < cost[j]) {
        cost[j] = with;
        came_from[j] = i;
      }
    }
    if (i == 0) uncut = level.cost();
  }
  LevelFit fit;
  fit.gain = std::max(0.0, uncut - cost[n]);
  for (std::size_t j = came_from[n]; j > 0; j = came_from[j]) fit.cuts.push_back(j);
  std::ranges::reverse(fit.cuts);
  return fit;
}

double least_cost(std::span<const SeriesPoint> series, double price) {
  double sum[2] =
      {};  // pairs that begin at even places, at odd ones: within each no point is twice
  for (std::size_t i = 0; i + 1 < series.size(); ++i) {
    const double apart = std::fabs(series[i + 1].value - series[i].value) *
                         std::min(series[i].weight, series[i + 1].weight);
    sum[i % 2] += std::min(apart, price);
  }
  return std::max(sum[0], sum[1]);
}

double cost_of_one_level(std::span<const SeriesPoint> series) {
  RunningMedian level;
  for (const auto& point : series) level.add(point);
  return series.empty() ? 0 : level.cost();
}

BestCut best_cut(std::span<const SeriesPoint> stretch, std::size_t least) {
  const std::size_t n = stretch.size();
  BestCut best;
  if (n < 2 * least) return best;
  std::vector<double> left(n + 1, 0);
  RunningMedian from_left, from_right;
  for (std::size_t i = 0; i < n; ++i) {
    from_left.add(stretch[i]);
    left[i + 1] = from_left.cost();
  }
  for (std::size_t i = n; i-- > least;) {
    from_right.add(stretch[i]);
    if (n - i < least) continue;
    const double gain = left[n] - left[i] - from_right.cost();
    if (gain > best.gain) best = {i, gain};
  }
  return best;
}

double weighted_median(std::span<const SeriesPoint> points) {
  std::vector<SeriesPoint> sorted(points.begin(), points.end());
  std::ranges::sort(sorted, {}, &SeriesPoint::value);
  double total = 0, sum = 0;
  for (const auto& point : sorted) total += point.weight;
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
    sum += sorted[i].weight;
    if (sum == total / 2) return (sorted[i].value + sorted[i + 1].value) / 2;
    if (sum > total / 2) return sorted[i].value;
  }
  return sorted.back().value;
}

}  // namespace assay::lab
