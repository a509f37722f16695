// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/false_discoveries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace assay::lab {
namespace {

using Values = std::vector<double>;

// Reference values: R's p.adjust on the same numbers.
TEST(FalseDiscoveries, BenjaminiHochberg) {
  EXPECT_THAT(benjamini_hochberg(Values{0.01, 0.04, 0.03, 0.005}),
              testing::Pointwise(testing::DoubleNear(1e-15), Values{0.02, 0.04, 0.04, 0.02}));
  EXPECT_TRUE(benjamini_hochberg({}).empty());
  EXPECT_THROW(benjamini_hochberg(Values{std::nan("")}), UserError);
  EXPECT_THROW(benjamini_hochberg(Values{1.1}), UserError);
}

}  // namespace
}  // namespace assay::lab
