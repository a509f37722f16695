// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/crossover.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace assay::lab {
namespace {

using V = std::vector<double>;

TEST(Crossover, IsWhereItStaysBelowOne) {
  const V x = {8, 16, 32, 64};
  EXPECT_EQ(crossover(x, V{1.5, 1.1, 0.9, 0.6}), 32);
  EXPECT_EQ(crossover(x, V{0.9, 1.1, 0.9, 0.6}), 32) << "a lucky first point is not enough";
  EXPECT_EQ(crossover(x, V{0.9, 0.8, 0.7, 0.6}), 8);
  EXPECT_EQ(crossover(x, V{0.9, 0.8, 0.7, 1.0}), std::nullopt) << "equal is not ahead";
  EXPECT_EQ(crossover(x, V{0.9, 0.8, 0.7, NAN}), std::nullopt);
  EXPECT_EQ(crossover(V{}, V{}), std::nullopt);
}

}  // namespace
}  // namespace assay::lab
