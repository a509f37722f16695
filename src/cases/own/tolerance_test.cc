// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/tolerance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay::cases::own {
namespace {

TEST(Tolerance, FollowsDtypeAndLength) {
  const std::vector<double> values = {3, -3, 3, -3};
  const auto f32 = derived_tolerance(DType::kF32, 16, values);
  EXPECT_EQ(f32.rtol, 8 * 0x1p-24);
  EXPECT_EQ(f32.atol, 8 * 0x1p-24 * 4 * 3);
  EXPECT_EQ(derived_tolerance(DType::kI32, 16, values).atol, 0);
  EXPECT_EQ(derived_tolerance(DType::kF64, 1, {}).atol, 0);
}

TEST(Tolerance, GrowsWithTheValuesAtEveryScale) {
  for (const double scale : {1e-300, 1e-150, 1.0, 1e150, 1e300}) {
    const std::vector<double> values = {3 * scale, -4 * scale};
    const auto tolerance = derived_tolerance(DType::kF64, 100, values);
    const double typical = std::sqrt(12.5) * scale;
    EXPECT_NEAR(tolerance.atol / typical, 8 * 0x1p-52 * 10, 1e-20) << scale;
    EXPECT_EQ(tolerance.rtol, 8 * 0x1p-52);
  }
}

TEST(Tolerance, WhatIsNotFiniteOrNotRoundedAddsNothing) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {1, infinity, std::nan("")};
  EXPECT_EQ(derived_tolerance(DType::kF32, 1, values).atol, 8 * 0x1p-24);
  EXPECT_EQ(derived_tolerance(DType::kF32, 1, std::vector<double>{0, 0}).atol, 0);
  EXPECT_EQ(derived_tolerance(DType::kI32, 1000, values).atol, 0);
  EXPECT_EQ(derived_tolerance(DType::kI32, 1000, values).rtol, 0);
}

}  // namespace
}  // namespace assay::cases::own
