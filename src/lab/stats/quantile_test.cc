// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/quantile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Values = std::vector<double>;

TEST(Quantile, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(median(Values{3}), 3);
  EXPECT_EQ(median(Values{4, 1}), 2.5);
  EXPECT_EQ(median(Values{9, 1, 5}), 5);
  EXPECT_EQ(median(Values{9, 1, 5, 2}), 3.5);
  EXPECT_EQ(median(Values{7, 7, 7, 7, 7}), 7);
}

// Reference values: numpy.quantile([15, 20, 35, 40, 50], q), checked by hand from h = 4q.
TEST(Quantile, InterpolatesAsDocumented) {
  const Values v = {50, 15, 40, 20, 35};
  EXPECT_EQ(quantile(v, 0), 15);
  EXPECT_EQ(quantile(v, 0.25), 20);
  EXPECT_DOUBLE_EQ(quantile(v, 0.4), 29);   // h = 1.6: 20 + 0.6·15
  EXPECT_DOUBLE_EQ(quantile(v, 0.95), 48);  // h = 3.8: 40 + 0.8·10
  EXPECT_EQ(quantile(v, 1), 50);
}

TEST(Quantile, EveryOrderOfInputGivesTheSame) {
  Values v = {1, 2, 3, 4, 5, 6};
  do {
    EXPECT_EQ(median(v), 3.5);
    EXPECT_EQ(quantile(v, 0.2), 2);
  } while (std::next_permutation(v.begin(), v.end()));
}

TEST(Quantile, LargeValuesDoNotOverflow) {
  const double max = std::numeric_limits<double>::max();
  EXPECT_EQ(median(Values{-max, max}), 0);
  EXPECT_EQ(median(Values{max, max}), max);
}

TEST(Quantile, WhatHasNoQuantileIsRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_THAT([] { median(Values{}); }, ThrowsMessage<UserError>("quantile: no values"));
  EXPECT_THAT(
      [&] {
        median(Values{1, nan});
      },
      ThrowsMessage<UserError>("quantile: value 1 is not finite: nan"));
  EXPECT_THAT([&] { median(Values{-inf, 1}); }, ThrowsMessage<UserError>(HasSubstr("-inf")));
  EXPECT_THAT([] { quantile(Values{1}, 1.5); }, ThrowsMessage<UserError>(HasSubstr("got 1.5")));
  EXPECT_THAT([&] { quantile(Values{1}, nan); }, ThrowsMessage<UserError>(HasSubstr("got nan")));
}

}  // namespace
}  // namespace assay::lab
