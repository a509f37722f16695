// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/bootstrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "lab/stats/random.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Values = std::vector<double>;

using Attempts = std::vector<Values>;

Attempts drawn(int attempts, int batches, double factor, std::uint64_t seed) {
  RandomStream random(seed, "drawn");
  Attempts list;
  for (int i = 0; i < attempts; ++i) {
    const double process = std::exp(0.02 * random.normal());
    Values values;
    for (int j = 0; j < batches; ++j)
      values.push_back(factor * process * std::exp(0.01 * random.normal()));
    list.push_back(values);
  }
  return list;
}

TEST(Bootstrap, SameSeedSameInterval) {
  const auto a = drawn(10, 7, 1, 1), b = drawn(12, 9, 1.2, 2);
  const auto one = bootstrap_quantile_ratio(a, b, 0.1, 7),
             two = bootstrap_quantile_ratio(a, b, 0.1, 7);
  ASSERT_TRUE(one.interval);
  EXPECT_EQ(one.interval->low, two.interval->low);
  EXPECT_EQ(one.interval->high, two.interval->high);
  EXPECT_EQ(one.seed, 7u);
  EXPECT_EQ(one.draws, 10'000);
  EXPECT_LT(one.interval->low, 1.2);
  EXPECT_GT(one.interval->high, 1.2);
  EXPECT_LT(one.interval->low, one.ratio);
  EXPECT_LT(one.ratio, one.interval->high);
}

// Batches of one process share its level: taking them as independent would give an interval about
// √batches too narrow. The spread of the ratio of medians here is 0.02·1.2533·√(2/20) ≈ 0.008.
TEST(Bootstrap, ProcessesCarryTheSpread) {
  const auto a = drawn(20, 50, 1, 3), b = drawn(20, 50, 1, 4);
  const auto r = bootstrap_quantile_ratio(a, b, 0.5, 1);
  EXPECT_GT(r.interval->high - r.interval->low, 2 * 0.008);
}

TEST(Bootstrap, UnderTenAttemptsThereIsNoInterval) {
  EXPECT_FALSE(bootstrap_quantile_ratio(drawn(9, 5, 1, 1), drawn(30, 5, 1, 2), 0.5, 0).interval);
  EXPECT_TRUE(bootstrap_quantile_ratio(drawn(10, 1, 1, 1), drawn(10, 5, 1, 2), 0.5, 0).interval);
}

TEST(Bootstrap, EqualValuesGiveAPoint) {
  const Attempts same(10, Values{0.5, 0.5});
  const auto r = bootstrap_quantile_ratio(same, same, 0.95, 0);
  EXPECT_EQ(r.ratio, 1);
  EXPECT_EQ(r.interval->low, 1);
  EXPECT_EQ(r.interval->high, 1);
}

TEST(Bootstrap, Refusals) {
  const auto good = drawn(10, 2, 1, 1);
  EXPECT_THAT([&] { bootstrap_quantile_ratio(good, good, 0, 0); },
              ThrowsMessage<UserError>(HasSubstr("inside (0, 1), got 0")));
  EXPECT_THROW(bootstrap_quantile_ratio(good, {}, 0.5, 0), UserError);
  auto bad = good;
  bad[3].clear();
  EXPECT_THAT([&] { bootstrap_quantile_ratio(bad, good, 0.5, 0); },
              ThrowsMessage<UserError>(HasSubstr("no batches: 3")));
  bad[3] = {-1};
  EXPECT_THROW(bootstrap_quantile_ratio(good, bad, 0.5, 0), UserError);
}

}  // namespace
}  // namespace assay::lab
