// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace assay::lab {
namespace {

TEST(Order, EveryRoundIsAPermutation) {
  for (int items = 0; items <= 9; ++items) {
    const auto order = balanced_order(items, 13, 5);
    ASSERT_EQ(order.size(), 13u);
    for (auto round : order) {
      std::ranges::sort(round);
      std::vector<int> expected(static_cast<std::size_t>(items));
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(round, expected);
    }
  }
}

TEST(Order, ABlockBalancesPositionsAndNeighbours) {
  for (int items = 2; items <= 9; ++items) {
    const int block = items % 2 == 0 ? items : 2 * items;
    const auto order = balanced_order(items, block, 77);
    std::map<std::pair<int, int>, int> at_position, follows;
    for (const auto& round : order) {
      for (int p = 0; p < items; ++p) {
        ++at_position[{round[static_cast<std::size_t>(p)], p}];
        if (p > 0)
          ++follows[{round[static_cast<std::size_t>(p - 1)], round[static_cast<std::size_t>(p)]}];
      }
    }
    EXPECT_EQ(at_position.size(), static_cast<std::size_t>(items * items));
    for (const auto& [key, count] : at_position) EXPECT_EQ(count, block / items);
    EXPECT_EQ(follows.size(), static_cast<std::size_t>(items * (items - 1)));
    for (const auto& [key, count] : follows) EXPECT_EQ(count, block / items);
  }
}

TEST(Order, TheSeedDecidesAndNothingElse) {
  EXPECT_EQ(balanced_order(4, 20, 1), balanced_order(4, 20, 1));
  EXPECT_NE(balanced_order(4, 20, 1), balanced_order(4, 20, 2));
  const auto order = balanced_order(4, 8, 1);
  EXPECT_NE(std::vector(order.begin(), order.begin() + 4),
            std::vector(order.begin() + 4, order.end()))
      << "each block gets a permutation of its own";
}

}  // namespace
}  // namespace assay::lab
