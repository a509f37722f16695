// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/level_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "lab/stats/random.h"

namespace assay::lab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Series drawn(int count, std::uint64_t seed) {
  RandomStream random(seed, "fit");
  Series series;
  for (int i = 0; i < count; ++i) {
    series.push_back({std::floor(8 * random.normal()) / 4, 0.25 + random.unit()});
  }
  return series;
}

// Σ w·|x − m| for the best m, which is one of the values.
double cost_by_definition(std::span<const SeriesPoint> points) {
  double best = std::numeric_limits<double>::infinity();
  for (const auto& level : points) {
    double sum = 0;
    for (const auto& p : points) sum += p.weight * std::fabs(p.value - level.value);
    best = std::min(best, sum);
  }
  return best;
}

// The least cost over all ways to cut, by trying them all.
double fit_by_definition(std::span<const SeriesPoint> series, double price, std::size_t least) {
  double best = cost_by_definition(series);
  for (std::size_t first = least; first + least <= series.size(); ++first) {
    best = std::min(best, cost_by_definition(series.first(first)) + price +
                              fit_by_definition(series.subspan(first), price, least));
  }
  return best;
}

TEST(LevelFit, RunningMedianIsTheMedian) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto series = drawn(25, seed);
    RunningMedian running;
    for (std::size_t i = 0; i < series.size(); ++i) {
      running.add(series[i]);
      EXPECT_NEAR(running.cost(), cost_by_definition(std::span(series).first(i + 1)), 1e-12);
    }
  }
}

TEST(LevelFit, IsTheBestOfAllWaysToCut) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto series = drawn(14, seed);
    for (const double price : {0.1, 1.0, 4.0}) {
      const auto fit = fit_levels(series, price, 3);
      const double uncut = cost_by_definition(series);
      EXPECT_NEAR(uncut - fit.gain, fit_by_definition(series, price, 3), 1e-12);
      // And its cuts cost what it says.
      double cost = price * static_cast<double>(fit.cuts.size());
      std::size_t from = 0;
      auto ends = fit.cuts;
      ends.push_back(series.size());
      for (const auto end : ends) {
        EXPECT_GE(end - from, 3u);
        cost += cost_by_definition(std::span(series).subspan(from, end - from));
        from = end;
      }
      EXPECT_NEAR(cost, uncut - fit.gain, 1e-12);
    }
  }
}

TEST(LevelFit, NoFitCostsLessThanItsBound) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto series = drawn(40, seed);
    for (const double price : {0.1, 1.0, 4.0}) {
      const double cost = cost_of_one_level(series) - fit_levels(series, price, 3).gain;
      EXPECT_LE(least_cost(series, price), cost + 1e-12);
      EXPECT_GT(least_cost(series, price), 0);
    }
  }
}

TEST(LevelFit, ShortSeriesAreWhole) {
  EXPECT_THAT(fit_levels({}, 1, 3).cuts, IsEmpty());
  const Series two = {{0, 1}, {9, 1}};
  EXPECT_THAT(fit_levels(two, 1, 3).cuts, IsEmpty());
  EXPECT_EQ(fit_levels(two, 1, 3).gain, 0);
  EXPECT_THAT(fit_levels(two, 1, 1).cuts, ElementsAre(1u));
}

TEST(LevelFit, TheBestSingleCut) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto series = drawn(20, seed);
    double best = -1;
    for (std::size_t at = 4; at + 4 <= series.size(); ++at) {
      best = std::max(best, cost_by_definition(series) -
                                cost_by_definition(std::span(series).first(at)) -
                                cost_by_definition(std::span(series).subspan(at)));
    }
    EXPECT_NEAR(best_cut(series, 4).gain, best, 1e-12);
  }
  EXPECT_LT(best_cut(drawn(7, 1), 4).gain, 0);
}

}  // namespace
}  // namespace assay::lab
