// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/change_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "lab/stats/random.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Values = std::vector<double>;

std::vector<SeriesPoint> steps(const std::vector<std::pair<int, double>>& parts, double sigma,
                               std::uint64_t seed) {
  RandomStream random(seed, "steps");
  std::vector<SeriesPoint> series;
  for (const auto& [count, level] : parts) {
    for (int i = 0; i < count; ++i) series.push_back({level + sigma * random.normal(), 1});
  }
  return series;
}

// The statistic by its definition, all pairs for every cut and every end.
double strongest_by_definition(const std::vector<SeriesPoint>& s, std::size_t least) {
  const auto mean = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    double sum = 0, mass = 0;
    for (std::size_t i = a; i < b; ++i) {
      for (std::size_t j = c; j < d; ++j) {
        sum += std::fabs(s[i].value - s[j].value) * s[i].weight * s[j].weight;
        mass += s[i].weight * s[j].weight;
      }
    }
    return sum / mass;
  };
  double best = 0;
  for (std::size_t t = least; t < s.size(); ++t) {
    for (std::size_t k = t + least; k <= s.size(); ++k) {
      double l = 0, r = 0;
      for (std::size_t i = 0; i < k; ++i) (i < t ? l : r) += s[i].weight;
      best = std::max(
          best, l * r / (l + r) * (2 * mean(0, t, t, k) - mean(0, t, 0, t) - mean(t, k, t, k)));
    }
  }
  return best;
}

TEST(ChangePoints, StatisticIsTheEnergyDistance) {
  auto series = steps({{12, 0}, {9, 1}}, 1, 5);
  for (std::size_t i = 0; i < series.size(); ++i)
    series[i].weight = 0.5 + 0.1 * static_cast<double>(i);
  EXPECT_NEAR(strongest_statistic(series, 5), strongest_by_definition(series, 5), 1e-12);
}

TEST(ChangePoints, FindsAStep) {
  const auto found = change_points(steps({{40, 0}, {30, 0.05}}, 0.01, 1));
  ASSERT_EQ(found.points.size(), 1u);
  EXPECT_EQ(found.points[0].index, 40u);
  EXPECT_NEAR(found.points[0].before, 0, 0.01);
  EXPECT_NEAR(found.points[0].after, 0.05, 0.01);
  EXPECT_DOUBLE_EQ(found.points[0].p, 0.001);
  EXPECT_DOUBLE_EQ(found.p, 0.001);
}

TEST(ChangePoints, FindsALevelThatCameBack) {
  const auto found = change_points(steps({{40, 0}, {8, 0.05}, {40, 0}}, 0.01, 2));
  ASSERT_EQ(found.points.size(), 2u);
  EXPECT_EQ(found.points[0].index, 40u);
  EXPECT_EQ(found.points[1].index, 48u);
}

TEST(ChangePoints, ShortOrEqualSeriesHaveNone) {
  EXPECT_TRUE(change_points({}).points.empty());
  EXPECT_TRUE(change_points(steps({{4, 0}, {5, 9}}, 0.01, 3)).points.empty());  // nine points
  EXPECT_EQ(change_points(steps({{50, 1}}, 0, 3)).p, 1);
  EXPECT_EQ(change_points(steps({{10, 0}, {10, 9}}, 0.01, 3)).points.size(), 1u);
}

TEST(ChangePoints, OneWildPointIsNoChange) {
  auto series = steps({{60, 0}}, 0.01, 4);
  series[30].value = 5;
  EXPECT_TRUE(change_points(series).points.empty());
}

TEST(ChangePoints, LittleWeightLittleSay) {
  // A step that only untrusted points show.
  auto series = steps({{30, 0}, {6, 0.05}}, 0.01, 6);
  EXPECT_EQ(change_points(series).points.size(), 1u);
  for (std::size_t i = 30; i < 36; ++i) series[i].weight = 1e-3;
  EXPECT_TRUE(change_points(series).points.empty());
}

TEST(ChangePoints, CorrelatedSeriesAreShuffledInBlocks) {
  RandomStream random(7, "ar");
  std::vector<SeriesPoint> series;
  Values values;
  double x = 0;
  for (int i = 0; i < 100; ++i) {
    x = 0.6 * x + random.normal();
    series.push_back({x, 1});
    values.push_back(x);
  }
  EXPECT_NEAR(lag_one_correlation(values), 0.6, 4 * 0.08);  // standard error √((1 − φ²)/n)
  EXPECT_TRUE(change_points(series).blocks);
  EXPECT_FALSE(change_points(steps({{100, 0}}, 1, 8)).blocks);
  EXPECT_EQ(lag_one_correlation(Values{1, 1, 1}), 0);
}

TEST(ChangePoints, ManySeries) {
  std::vector<ChangePoints> many(20);
  many[3].p = 0.001;
  many[3].points.push_back({});
  many[4].p = 0.009;  // accepted alone, but not as one of twenty
  many[4].points.push_back({});
  const auto changed = changed_series(many);
  EXPECT_TRUE(changed[3]);
  EXPECT_FALSE(changed[4]);
  EXPECT_FALSE(changed[0]);
}

TEST(ChangePoints, Weights) {
  EXPECT_DOUBLE_EQ(weight_from_width(0.02, 0.01), 0.25);
  EXPECT_EQ(weight_from_width(1, 0.01), 1.0 / 16);
  EXPECT_EQ(weight_from_width(0, 0.01), 1);
  EXPECT_EQ(weight_from_width(std::nan(""), 0.01), 1);
}

TEST(ChangePoints, Refusals) {
  std::vector<SeriesPoint> series(20);
  series[3].value = std::nan("");
  EXPECT_THROW(change_points(series), UserError);
  series[3] = {0, 0};
  EXPECT_THAT([&] { change_points(series); }, ThrowsMessage<UserError>(HasSubstr("weight")));
  series[3] = {0, 1};
  EXPECT_THROW(change_points(series, {.min_segment = 1}), UserError);
  EXPECT_THROW(change_points(series, {.permutations = 9}), UserError);
}

}  // namespace
}  // namespace assay::lab
