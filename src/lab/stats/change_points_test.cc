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

Series steps(const std::vector<std::pair<int, double>>& parts, double sigma, std::uint64_t seed) {
  RandomStream random(seed, "steps");
  Series series;
  for (const auto& [count, level] : parts) {
    for (int i = 0; i < count; ++i) series.push_back({level + sigma * random.normal(), 1});
  }
  return series;
}

TEST(ChangePoints, FindsAStep) {
  const auto found = change_points(steps({{40, 0}, {30, 0.05}}, 0.01, 1));
  ASSERT_EQ(found.points.size(), 1u);
  EXPECT_EQ(found.points[0].index, 40u);
  EXPECT_NEAR(found.points[0].before, 0, 0.01);
  EXPECT_NEAR(found.points[0].after, 0.05, 0.01);
  EXPECT_DOUBLE_EQ(found.points[0].p, 0.001);
  EXPECT_LE(found.p, 0.001);
}

// What a cut leaves must not hold another: equal steps, staircases, what regressed and was mended.
TEST(ChangePoints, FindsSeveralSteps) {
  using Parts = std::vector<std::pair<int, double>>;
  for (const auto& parts :
       {Parts{{20, 0}, {20, 0.095}, {20, 0.19}}, Parts{{33, 0}, {33, 0.095}, {34, 0.19}},
        Parts{{20, 0}, {20, 0.05}, {20, 0.1}}, Parts{{20, 0}, {20, 0.1}, {20, 0.2}, {20, 0.3}},
        Parts{{25, 0}, {10, 0.1}, {25, 0}}, Parts{{10, 0}, {10, 0.1}, {10, 0}, {10, 0.1}, {10, 0}},
        Parts{{15, 0}, {5, 0.1}}, Parts{{32, 0}, {8, 0.1}}}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto found = change_points(steps(parts, 0.01, seed));
      ASSERT_EQ(found.points.size(), parts.size() - 1) << seed;
      std::size_t at = 0;
      for (std::size_t k = 0; k + 1 < parts.size(); ++k) {
        at += static_cast<std::size_t>(parts[k].first);
        EXPECT_NEAR(static_cast<double>(found.points[k].index), static_cast<double>(at), 1);
        EXPECT_NEAR(found.points[k].after, parts[k + 1].second, 0.012);
      }
    }
  }
}

TEST(ChangePoints, FindsALevelThatCameBack) {
  const auto found = change_points(steps({{40, 0}, {8, 0.05}, {40, 0}}, 0.01, 2));
  ASSERT_EQ(found.points.size(), 2u);
  EXPECT_EQ(found.points[0].index, 40u);
  EXPECT_EQ(found.points[1].index, 48u);
}

TEST(ChangePoints, ShortOrEqualSeriesHaveNone) {
  EXPECT_TRUE(change_points(Series()).points.empty());
  EXPECT_TRUE(change_points(steps({{4, 0}, {5, 9}}, 0.01, 3)).points.empty());  // nine points
  EXPECT_EQ(change_points(steps({{50, 1}}, 0, 3)).p, 1);
  EXPECT_EQ(change_points(steps({{10, 0}, {10, 9}}, 0.01, 3)).points.size(), 1u);
}

// Ten points have 252 ways to lie five and five: two of them are as far apart, p = 0.8 %, just
// below the level. Chance in the draws must not decide.
TEST(ChangePoints, EqualSeriesAreJudgedAlike) {
  const std::vector<Series> family(40, steps({{5, 0}, {5, 0.7}}, 0, 1));
  for (const auto& found : change_points(family)) {
    ASSERT_EQ(found.points.size(), 1u);
    EXPECT_EQ(found.points[0].index, 5u);
  }
  int noisy = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    noisy +=
        change_points(steps({{5, 0}, {5, 0.1}}, 0.01, seed), {.seed = seed}).points.size() == 1;
  }
  EXPECT_EQ(noisy, 30);
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

// Noise that wanders by itself is not called a change, and a step in it still is.
TEST(ChangePoints, CorrelatedNoise) {
  int alarms = 0, found = 0, blocks = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random(seed, "ar");
    Series series;
    double x = random.normal();
    for (int i = 0; i < 100; ++i) {
      x = 0.6 * x + 0.8 * random.normal();
      series.push_back({x, 1});
    }
    alarms += !change_points(series).points.empty();
    for (std::size_t i = 50; i < 100; ++i) series[i].value += 6;
    const auto stepped = change_points(series);
    found += !stepped.points.empty();
    blocks += stepped.blocks;
  }
  EXPECT_LE(alarms, 3);
  EXPECT_GE(found, 45);
  EXPECT_GE(blocks, 45);
}

// One series that changed is found among any number that did not, and short ones do not count.
TEST(ChangePoints, ManySeries) {
  for (const int count : {1, 50, 51, 300}) {
    std::vector<Series> family;
    for (int i = 0; i < count; ++i) {
      family.push_back(i == count / 2 ? steps({{20, 0}, {20, 0.05}}, 0.01, 1)
                                      : steps({{i % 2 == 0 ? 40 : 9, 0}}, 0.01,
                                              1000u + static_cast<unsigned>(i)));
    }
    const auto found = change_points(family);
    for (int i = 0; i < count; ++i) {
      const auto& one = found[static_cast<std::size_t>(i)];
      EXPECT_EQ(one.points.size(), i == count / 2 ? 1u : 0u) << i << " of " << count;
      EXPECT_EQ(one.tested, i == count / 2 || i % 2 == 0);
    }
  }
}

TEST(ChangePoints, Weights) {
  EXPECT_DOUBLE_EQ(weight_from_width(0.02, 0.01), 0.25);
  EXPECT_EQ(weight_from_width(1, 0.01), 1.0 / 16);
  EXPECT_EQ(weight_from_width(0, 0.01), 1);
  EXPECT_EQ(weight_from_width(std::nan(""), 0.01), 1);
}

TEST(ChangePoints, Refusals) {
  Series series(20);
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
