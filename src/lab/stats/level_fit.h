// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <queue>
#include <span>
#include <vector>

#include "lab/stats/change_points.h"

namespace assay::lab {

// The weighted median of points that arrive one by one, and their distance from it, Σ w·|x − m|.
// O(log n) for each.
class RunningMedian {
 public:
  void add(const SeriesPoint& point);
  double median() const { return low_.top().value; }
  double cost() const;

 private:
  struct Smaller {
    bool operator()(const SeriesPoint& a, const SeriesPoint& b) const { return a.value < b.value; }
  };
  struct Larger {
    bool operator()(const SeriesPoint& a, const SeriesPoint& b) const { return a.value > b.value; }
  };
  template <typename Order>
  using Heap = std::priority_queue<SeriesPoint, std::vector<SeriesPoint>, Order>;

  Heap<Smaller> low_;  // its top is the median
  Heap<Larger> high_;
  double low_weight_ = 0, high_weight_ = 0, low_sum_ = 0, high_sum_ = 0;
};

// Levels with the least cost Σ w·|x − level| + price·(number of cuts).
struct LevelFit {
  std::vector<std::size_t> cuts;  // where a new level begins, ascending
  double gain = 0;                // what cutting saves over one level for all, prices paid; ≥ 0
};
LevelFit fit_levels(std::span<const SeriesPoint> series, double price, std::size_t least);

// No fit of the series costs less: two neighbours lie apart within a level, or a cut is paid for
// between them. O(n), and often enough.
double least_cost(std::span<const SeriesPoint> series, double price);
double cost_of_one_level(std::span<const SeriesPoint> series);

// The best single cut of a stretch, at least `least` points on either side, and what it saves.
struct BestCut {
  std::size_t at = 0;
  double gain = -1;  // below 0: the stretch is too short
};
BestCut best_cut(std::span<const SeriesPoint> stretch, std::size_t least);

double weighted_median(std::span<const SeriesPoint> points);

}  // namespace assay::lab
