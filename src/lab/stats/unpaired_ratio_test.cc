// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/unpaired_ratio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "lab/stats/random.h"

namespace assay::lab {
namespace {

std::size_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

using testing::HasSubstr;
using testing::ThrowsMessage;
using Values = std::vector<double>;

double binomial(int n, int k) {
  double c = 1;
  for (int i = 1; i <= k; ++i) c = c * (n - k + i) / i;
  return c;
}

// All ways to place m x's among m + n ranks, counted one by one.
Values counted(int m, int n) {
  Values count(static_cast<std::size_t>(m * n) + 1, 0);
  for (unsigned set = 0; set < 1u << (m + n); ++set) {
    int x = 0, u = 0;
    for (int rank = 0; rank < m + n; ++rank) {
      if ((set >> rank & 1) != 0) {
        u += rank - x++;  // the y's below it
      }
    }
    if (x == m) count[static_cast<std::size_t>(u)] += 1 / binomial(m + n, m);
  }
  return count;
}

TEST(RankSum, AgreesWithCountingAllArrangements) {
  for (const auto& [m, n] : {std::pair{1, 1}, {1, 5}, {4, 3}, {5, 5}, {7, 6}}) {
    const RankSum distribution(m, n);
    double sum = 0;
    const auto p = counted(m, n);
    for (std::size_t u = 0; u < p.size(); ++u) {
      sum += p[u];
      EXPECT_NEAR(distribution.at_most(static_cast<long>(u)), sum, 1e-13) << m << " " << n;
    }
  }
  EXPECT_EQ(RankSum(3, 3).at_most(-1), 0);
  EXPECT_EQ(RankSum(3, 3).at_most(9), 1);
  EXPECT_THROW(RankSum(0, 3), UserError);
}

TEST(RankSum, SmallestSizesThatHaveAnInterval) {
  EXPECT_FALSE(RankSum(3, 3).interval_rank(0.95));      // 1/20 > 0.025
  EXPECT_EQ(RankSum(4, 4).interval_rank(0.95), 1);      // 1/70 ≤ 0.025 < 2/70
  EXPECT_EQ(RankSum(10, 10).interval_rank(0.95), 24);   // tables: critical value 23
  EXPECT_EQ(RankSum(20, 20).interval_rank(0.95), 128);  // tables: critical value 127
}

TEST(RankSum, LargeSidesAreNearTheNormal) {
  const RankSum exact(200, 200), large(201, 201);
  EXPECT_TRUE(exact.exact());
  EXPECT_FALSE(large.exact());
  // The approximation at the last exact size, over the whole distribution.
  double worst = 0;
  const double sigma = std::sqrt(200.0 * 200 * 401 / 12);
  for (long u = 0; u < 40000; ++u) {
    const double normal =
        0.5 * std::erfc(-(static_cast<double>(u) + 0.5 - 20000) / sigma / std::sqrt(2.0));
    worst = std::max(worst, std::fabs(normal - exact.at_most(u)));
  }
  EXPECT_LT(worst, 3e-4);
  EXPECT_TRUE(RankSum(4, 1000).exact());
  EXPECT_NEAR(large.at_most(20200), 0.5, 1e-3);
}

TEST(UnpairedRatio, MedianOfAllPairs) {
  const auto r = unpaired_ratio(Values{1, 2}, Values{2, 8});  // ratios 2, 8, 1, 4
  EXPECT_NEAR(r.ratio, std::sqrt(8.0), 1e-15);
  EXPECT_FALSE(r.interval);
}

TEST(UnpairedRatio, FactorMovesEverything) {
  RandomStream random(1, "unpaired");
  Values a, b, c;
  for (int i = 0; i < 9; ++i) a.push_back(std::exp(0.1 * random.normal()));
  for (int i = 0; i < 7; ++i) b.push_back(std::exp(0.1 * random.normal()));
  for (const double value : b) c.push_back(2 * value);
  const auto one = unpaired_ratio(a, b), two = unpaired_ratio(a, c);
  ASSERT_TRUE(one.interval && two.interval);
  EXPECT_NEAR(two.ratio, 2 * one.ratio, 1e-14);
  EXPECT_NEAR(two.interval->low, 2 * one.interval->low, 1e-14);
  EXPECT_NEAR(two.interval->high, 2 * one.interval->high, 1e-14);
  EXPECT_GE(one.interval->coverage, 0.95);
  const auto back = unpaired_ratio(b, a);
  EXPECT_NEAR(back.interval->low, 1 / one.interval->high, 1e-14);
}

// All pairs written down and sorted: what the ranks are by definition.
Values all_pairs(const Values& a, const Values& b) {
  Values d;
  for (const double x : a) {
    for (const double y : b) d.push_back(std::log(y) - std::log(x));
  }
  std::ranges::sort(d);
  return d;
}

TEST(UnpairedRatio, RanksAreThoseOfAllPairsToTheLastDigit) {
  RandomStream random(7, "ranks");
  for (int trial = 0; trial < 60; ++trial) {
    Values a, b;
    const int m = 1 + trial % 13, n = 1 + trial * 7 % 23;
    const double scale = trial % 3 == 0 ? 1e-9 : 1;
    for (int i = 0; i < m; ++i) a.push_back(scale * std::exp(0.1 * random.normal()));
    for (int i = 0; i < n; ++i) b.push_back(scale * std::exp(0.1 * random.normal()));
    if (trial % 4 == 0) {  // ties
      for (auto* side : {&a, &b}) {
        for (double& value : *side) value = scale * (1 + std::round(20 * value / scale) / 20);
      }
    }
    const auto d = all_pairs(a, b);
    const auto r = unpaired_ratio(a, b, 0.5);
    const auto half = d.size() / 2;
    const double middle = d.size() % 2 == 1 ? d[half] : 0.5 * d[half - 1] + 0.5 * d[half];
    EXPECT_EQ(r.ratio, std::exp(middle));
    if (const auto k = RankSum(m, n).interval_rank(0.5)) {
      const auto rank = static_cast<std::size_t>(*k);
      EXPECT_EQ(r.interval->low, std::exp(d[rank - 1]));
      EXPECT_EQ(r.interval->high, std::exp(d[d.size() - rank]));
    }
  }
}

// A thousand million pairs, which would be 8 GB.
TEST(UnpairedRatio, ManyAttemptsNeedNoMoreMemoryThanTheyAre) {
  Values a, b;
  for (int i = 0; i < 32'000; ++i) {
    a.push_back(1 + 1e-6 * i);
    b.push_back(1.1 * (1 + 1e-6 * i));
  }
  const auto before = peak_resident_bytes();
  const auto r = unpaired_ratio(a, b);
  EXPECT_NEAR(r.ratio, 1.1, 1e-4);
  EXPECT_LT(r.interval->low, 1.1);
  EXPECT_GT(r.interval->high, 1.1);
  EXPECT_LT(peak_resident_bytes() - before, 64u << 20);
}

TEST(UnpairedRatio, WhatIsNoTimeIsRefused) {
  EXPECT_THAT([] { unpaired_ratio({}, Values{1}); },
              ThrowsMessage<UserError>("unpaired ratio: side a has no attempts"));
  EXPECT_THAT([] { unpaired_ratio(Values{1}, {}); }, ThrowsMessage<UserError>(HasSubstr("side b")));
  EXPECT_THAT(([] {
                unpaired_ratio(Values{1}, Values{1, 0});
              }),
              ThrowsMessage<UserError>(HasSubstr("attempt 1 of side b")));
  EXPECT_THROW(unpaired_ratio(Values{std::nan("")}, Values{1}), UserError);
  EXPECT_THROW(unpaired_ratio(Values{1}, Values{1}, 1.0), UserError);
}

}  // namespace
}  // namespace assay::lab
