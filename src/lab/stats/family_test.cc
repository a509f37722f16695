// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "lab/stats/random.h"

namespace assay::lab {
namespace {

using Values = std::vector<double>;

std::vector<FamilyP> judge(const std::vector<Evidence>& rows, FamilySettings settings = {}) {
  return judge_family(rows, settings);
}
Values noise(int count, double shift, RandomStream& random, double sigma = 0.01) {
  Values d;
  for (int r = 0; r < count; ++r) d.push_back(shift + sigma * random.normal());
  return d;
}
Values times(int count, double shift, RandomStream& random) {
  auto values = noise(count, shift, random);
  for (double& value : values) value = std::exp(value);
  return values;
}

// Alone, the pattern of signs with the largest mean: by counting them all.
TEST(Family, OneRowByAllItsSigns) {
  const auto p = judge({PairedEvidence{{1, 2, 3, 4, 5, 6}}}).front();
  EXPECT_DOUBLE_EQ(p.own, 2.0 / 64);
  EXPECT_DOUBLE_EQ(p.adjusted, 2.0 / 64);
  // Sums of ±1…±6 of at least 19 in size: −1 alone turned (19), none (21), and their opposites.
  EXPECT_DOUBLE_EQ(judge({PairedEvidence{{-1, 2, 3, 4, 5, 6}}}).front().own, 4.0 / 64);
  EXPECT_DOUBLE_EQ(judge({PairedEvidence{{1, 2, 3, 4, 5, 6}}}, {.one_sided = true}).front().own,
                   1.0 / 64);
  EXPECT_DOUBLE_EQ(
      judge({PairedEvidence{{-1, -2, -3, -4, -5, -6}}}, {.one_sided = true}).front().own, 1);
}

TEST(Family, OneRowByAllItsLabels) {
  // Of the 70 ways to choose four of eight, one has the largest difference and one the smallest.
  const UnpairedEvidence apart{{5, 6, 7, 8}, {1, 2, 3, 4}};
  EXPECT_DOUBLE_EQ(judge({apart}).front().own, 2.0 / 70);
  EXPECT_DOUBLE_EQ(judge({apart}, {.one_sided = true}).front().own, 1.0 / 70);
}

TEST(Family, DrawnRearrangementsAgreeWithAll) {
  RandomStream random(3, "drawn");
  std::vector<Evidence> rows;
  for (int i = 0; i < 5; ++i) rows.emplace_back(PairedEvidence{noise(13, 0.004, random)});
  const auto all = judge(rows);
  rows.emplace_back(PairedEvidence{noise(14, 0, random)});  // one round too many for all signs
  const auto drawn = judge(rows);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(drawn[i].own, all[i].own, 0.02) << i;
}

// The least p does not fall with the number of rows: what is ten times slower is found.
TEST(Family, TenTimesSlowerIsFoundAmongAnyNumberOfRows) {
  for (const int rows : {1, 2, 10, 47, 1000}) {
    RandomStream random(1, "tenfold");
    std::vector<Evidence> paired, unpaired, all_slower;
    for (int i = 0; i < rows; ++i) {
      const double shift = i == rows / 2 ? std::log(10.0) : 0;
      paired.emplace_back(PairedEvidence{noise(6, shift, random)});
      unpaired.emplace_back(UnpairedEvidence{times(6, shift, random), times(6, 0, random)});
      all_slower.emplace_back(
          UnpairedEvidence{times(6, std::log(10.0), random), times(6, 0, random)});
    }
    const auto at = static_cast<std::size_t>(rows / 2);
    EXPECT_DOUBLE_EQ(judge(paired)[at].adjusted, 2.0 / 64) << rows;
    EXPECT_DOUBLE_EQ(judge(unpaired)[at].adjusted, 2.0 / 924) << rows;
    for (const auto& p : judge(all_slower)) EXPECT_LE(p.adjusted, 0.05) << rows;
  }
}

TEST(Family, AdjustedIsNeverBelowOwnAndKeepsTheOrder) {
  RandomStream random(2, "order");
  std::vector<Evidence> rows;
  for (int i = 0; i < 30; ++i) rows.emplace_back(PairedEvidence{noise(10, 0.001 * i, random)});
  for (const auto& p : judge(rows)) {
    EXPECT_LE(p.own, p.adjusted + 1e-12);
    EXPECT_LE(p.adjusted, 1);
  }
}

TEST(Family, RowsThatCannotBeDecidedAreNotInIt) {
  RandomStream random(4, "short");
  const Evidence six = PairedEvidence{noise(6, 0.1, random)};
  const Evidence five = PairedEvidence{noise(5, 0.1, random)};
  const auto p = judge({six, five, PairedEvidence{}, UnpairedEvidence{{1, 2}, {1}}});
  EXPECT_TRUE(p[0].judged);
  for (std::size_t i = 1; i < p.size(); ++i) {
    EXPECT_FALSE(p[i].judged);
    EXPECT_EQ(p[i].adjusted, 1);
  }
  EXPECT_TRUE(judge({}).empty());
}

TEST(Family, OneSpikeHidesNothing) {
  RandomStream random(5, "spike");
  std::vector<Evidence> rows;
  for (int i = 0; i < 20; ++i) rows.emplace_back(PairedEvidence{noise(10, 0, random)});
  auto slower = noise(10, 0.05, random);
  slower[3] = -0.5;  // the other side was disturbed once
  rows.emplace_back(PairedEvidence{slower});
  EXPECT_LE(judge(rows).back().adjusted, 0.05);
}

TEST(Family, NoScatterAtAll) {
  EXPECT_EQ(judge({PairedEvidence{Values(8, 0.0)}}).front().adjusted, 1);
  EXPECT_DOUBLE_EQ(judge({PairedEvidence{Values(8, 0.1)}}).front().adjusted, 2.0 / 256);
  const auto both = judge({PairedEvidence{Values(8, 0.0)}, PairedEvidence{Values(8, 0.1)}});
  EXPECT_EQ(both[0].adjusted, 1);
  EXPECT_DOUBLE_EQ(both[1].adjusted, 2.0 / 256);
}

TEST(Family, ScaleDoesNotMatter) {
  RandomStream random(6, "scale");
  const auto d = noise(9, 0.01, random);
  std::vector<double> p;
  for (const double scale : {1e-150, 1.0, 1e150}) {
    auto scaled = d;
    for (double& value : scaled) value *= scale;
    p.push_back(judge({PairedEvidence{scaled}}).front().own);
  }
  EXPECT_EQ(p[0], p[1]);
  EXPECT_EQ(p[2], p[1]);
}

TEST(Family, VerdictsAgreeWithIntervals) {
  const Interval above{1.1, 1.2, 0.97}, holds{0.9, 1.2, 0.97}, below{0.8, 0.9, 0.97};
  EXPECT_EQ(what_is_shown(above, {.adjusted = 0.03}), Shown::kAbove);
  EXPECT_EQ(what_is_shown(above, {.adjusted = 0.3}), Shown::kPerhaps);
  EXPECT_EQ(what_is_shown(holds, {.adjusted = 0.001}), Shown::kNothing);
  EXPECT_EQ(what_is_shown(below, {.adjusted = 0.05}), Shown::kBelow);
  EXPECT_EQ(what_is_shown({}, {.adjusted = 0.001}), Shown::kTooFew);
}

TEST(Family, WhatWasMeasuredApartMustLieBeyondTheMargin) {
  const FamilyP found{.adjusted = 0.01};
  EXPECT_EQ(what_is_shown(Interval{1.02, 1.04, 0.97}, found, 0.05, 0.05), Shown::kPerhaps);
  EXPECT_EQ(what_is_shown(Interval{1.02, 1.09, 0.97}, found, 0.05, 0.05), Shown::kPerhaps);
  EXPECT_EQ(what_is_shown(Interval{1.06, 1.09, 0.97}, found, 0.05, 0.05), Shown::kAbove);
  EXPECT_EQ(what_is_shown(Interval{0.96, 0.98, 0.97}, found, 0.05, 0.05), Shown::kPerhaps);
  EXPECT_EQ(what_is_shown(Interval{0.90, 0.95, 0.97}, found, 0.05, 0.05), Shown::kBelow);
  EXPECT_EQ(what_is_shown(Interval{0.99, 1.30, 0.97}, found, 0.05, 0.05), Shown::kNothing);
}

TEST(Family, Refusals) {
  EXPECT_THROW(judge({PairedEvidence{{1, 2, 3, 4, 5, std::nan("")}}}), UserError);
  EXPECT_THROW(judge({UnpairedEvidence{{1, 2, 3, 4, -1}, {1, 2, 3, 4, 5}}}), UserError);
}

}  // namespace
}  // namespace assay::lab
