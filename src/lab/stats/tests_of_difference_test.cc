// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/tests_of_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Values = std::vector<double>;

TEST(SignTest, IsExact) {
  const Values d = {1, 2, 3, -1, 5};
  EXPECT_DOUBLE_EQ(sign_test(d), 6.0 / 32);  // four or five of five
  EXPECT_DOUBLE_EQ(sign_test(d, -2), 1.0 / 32);
  EXPECT_DOUBLE_EQ(sign_test(d, 5), 1);  // 5 itself is not above
  EXPECT_EQ(sign_test({}), 1);
  EXPECT_THROW(sign_test(Values{std::nan("")}), UserError);
}

TEST(SignFlips, SmallestPIsOneInTenThousand) {
  const Values d(40, 1.0);
  EXPECT_DOUBLE_EQ(sign_flip_p(d, 1), 1e-4);
  EXPECT_EQ(sign_flip_p({}, 1), 1);
  EXPECT_EQ(sign_flip_p(Values{0, 0}, 1), 1);
}

// Three values of one sign: all flips give two of eight as extreme, p → 1/4. The standard
// deviation of the estimate over 9999 flips is 0.0043.
TEST(SignFlips, AgreesWithAllFlips) {
  EXPECT_NEAR(sign_flip_p(Values{1, 2, 4}, 3), 0.25, 4 * 0.0043);
}

TEST(LabelPermutation, AgreesWithAllLabels) {
  // Of the 20 ways to choose three of six, one has the largest sum and one the smallest.
  const Values a = {1, 2, 3}, b = {4, 5, 6};
  EXPECT_NEAR(label_permutation_p(a, b, 1), 0.1, 4 * 0.003);
  EXPECT_EQ(label_permutation_p(a, {}, 1), 1);
  EXPECT_EQ(label_permutation_p(Values{2, 2}, Values{2}, 1), 1);
  EXPECT_EQ(label_permutation_p(a, b, 5), label_permutation_p(a, b, 5));
}

// Reference values: R's p.adjust on the same numbers.
TEST(Adjustment, HolmAndBenjaminiHochberg) {
  const Values p = {0.01, 0.04, 0.03, 0.005};
  EXPECT_THAT(holm(p),
              testing::Pointwise(testing::DoubleNear(1e-15), Values{0.03, 0.06, 0.06, 0.02}));
  EXPECT_THAT(benjamini_hochberg(p),
              testing::Pointwise(testing::DoubleNear(1e-15), Values{0.02, 0.04, 0.04, 0.02}));
  EXPECT_TRUE(holm({}).empty());
  EXPECT_EQ(holm(Values{0.7, 0.6})[0], 1);
  EXPECT_THROW(holm(Values{1.1}), UserError);
  EXPECT_THROW(benjamini_hochberg(Values{std::nan("")}), UserError);
}

}  // namespace
}  // namespace assay::lab
