// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Values = std::vector<double>;

TEST(Stopping, Looks) {
  EXPECT_EQ(next_look(0), 10);
  EXPECT_EQ(next_look(10), 14);
  EXPECT_EQ(next_look(57), 80);
  EXPECT_EQ(next_look(80), std::nullopt);
  EXPECT_TRUE(is_look(28));
  EXPECT_FALSE(is_look(29));
}

TEST(Stopping, PrecisionIsHalfTheWidth) {
  EXPECT_NEAR(precision_of({1 / 1.02, 1.02, 0.95}), 0.02, 1e-14);
  EXPECT_NEAR(precision_of({2 / 1.02, 2 * 1.02, 0.95}), 0.02, 1e-14);  // relative
  EXPECT_EQ(precision_of({3, 3, 0.95}), 0);
  EXPECT_THROW(precision_of({0, 1, 0.95}), UserError);
  EXPECT_THROW(precision_of({2, 1, 0.95}), UserError);
}

TEST(Stopping, OnlyAtLooks) {
  const Interval narrow{0.999, 1.001, 0.95}, wide{0.9, 1.1, 0.95};
  EXPECT_EQ(decide(9, narrow, 0.01), Stopping::kContinue);
  EXPECT_EQ(decide(10, narrow, 0.01), Stopping::kMet);
  EXPECT_EQ(decide(11, narrow, 0.01), Stopping::kContinue);
  EXPECT_EQ(decide(10, wide, 0.01), Stopping::kContinue);
  EXPECT_EQ(decide(10, std::nullopt, 0.01), Stopping::kContinue);
  EXPECT_EQ(decide(80, wide, 0.01), Stopping::kExhausted);
  EXPECT_EQ(decide(80, narrow, 0.01), Stopping::kMet);
  EXPECT_EQ(decide(81, narrow, 0.01), Stopping::kExhausted);
  EXPECT_THAT([&] { decide(10, narrow, 0); }, ThrowsMessage<UserError>(HasSubstr("got 0")));
}

}  // namespace
}  // namespace assay::lab
