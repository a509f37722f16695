// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/detectable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Values = std::vector<double>;

TEST(Detectable, IsTheFormula) {
  // 1.2533·(1.96 + 0.8416)·0.01/√20 = 0.0078515
  EXPECT_NEAR(minimum_detectable_effect(0.01, 20), std::expm1(0.0078515), 1e-6);
  EXPECT_EQ(minimum_detectable_effect(0, 10), 0);
  EXPECT_GT(minimum_detectable_effect(0.01, 10), minimum_detectable_effect(0.01, 11));
}

TEST(Detectable, RoundsNeededInvertsIt) {
  for (const int rounds : {6, 7, 10, 25, 80, 1000}) {
    const double effect = minimum_detectable_effect(0.02, rounds);
    EXPECT_EQ(rounds_needed(effect, 0.02), rounds);
    EXPECT_EQ(rounds_needed(effect * 0.999, 0.02), rounds + (rounds < 500 ? 1 : 3));
  }
  EXPECT_EQ(rounds_needed(0.5, 0.01), 6);  // never fewer than an interval needs
  EXPECT_EQ(rounds_needed(0.05, 0), 6);
  EXPECT_EQ(rounds_needed(1e-12, 10), std::numeric_limits<int>::max());
}

TEST(Detectable, SpreadIgnoresSpikes) {
  Values d;
  for (int i = -50; i <= 50; ++i) d.push_back(0.01 * i);
  const double calm = robust_sigma(d);
  EXPECT_NEAR(calm, 1.4826 * 0.25, 1e-4);
  d.push_back(100);
  EXPECT_NEAR(robust_sigma(d), calm, 0.01);
  EXPECT_EQ(robust_sigma(Values{1}), 0);
  EXPECT_EQ(robust_sigma(Values{2, 2, 2}), 0);
  EXPECT_DOUBLE_EQ(robust_sigma(Values{0, 0, 0, 2}), 1);  // more than half equal: the deviation
}

TEST(Detectable, Refusals) {
  EXPECT_THROW(minimum_detectable_effect(-1, 10), UserError);
  EXPECT_THROW(minimum_detectable_effect(std::nan(""), 10), UserError);
  EXPECT_THROW(minimum_detectable_effect(1, 0), UserError);
  EXPECT_THROW(minimum_detectable_effect(1, 10, 0), UserError);
  EXPECT_THAT([] { rounds_needed(0, 1); }, ThrowsMessage<UserError>(HasSubstr("got 0")));
}

}  // namespace
}  // namespace assay::lab
