// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/median_interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"

namespace assay::lab {
namespace {

TEST(MedianInterval, NeedsSixValuesAtNinetyFivePercent) {
  EXPECT_FALSE(median_interval({}));
  EXPECT_FALSE(median_interval(std::vector<double>{1, 2, 3, 4, 5}));
  const auto six = median_interval(std::vector<double>{6, 1, 5, 2, 4, 3});
  ASSERT_TRUE(six);
  EXPECT_EQ(six->low, 1);
  EXPECT_EQ(six->high, 6);
  EXPECT_EQ(six->coverage, 1 - 2.0 / 64);  // both ends fail with chance 2^-6 each
}

TEST(MedianInterval, DropsTheOuterValuesOnceItCan) {
  // n = 9: P(Bin(9, 1/2) <= 1) = 10/512 < 0.025, P(<= 2) = 46/512 > 0.025, so k = 2.
  const auto nine = median_interval(std::vector<double>{9, 8, 7, 6, 5, 4, 3, 2, 1});
  ASSERT_TRUE(nine);
  EXPECT_EQ(nine->low, 2);
  EXPECT_EQ(nine->high, 8);
}

TEST(MedianInterval, RefusesWhatHasNoPlace) {
  EXPECT_THROW(median_interval(std::vector<double>{1, NAN}), UserError);
  EXPECT_THROW(median_interval(std::vector<double>{1, INFINITY}), UserError);
}

}  // namespace
}  // namespace assay::lab
