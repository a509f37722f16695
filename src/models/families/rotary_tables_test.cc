// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/families/rotary_tables.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::models {
namespace {

using Kind = RotaryConfig::Kind;

TEST(RotaryTables, PlainFrequencies) {
  const auto f = rotary_frequencies({.theta = 10000}, 8);
  ASSERT_EQ(f.size(), 4u);
  EXPECT_FLOAT_EQ(f[0], 1);
  EXPECT_FLOAT_EQ(f[1], 0.1f);
  EXPECT_FLOAT_EQ(f[2], 0.01f);
  EXPECT_FLOAT_EQ(f[3], 0.001f);
}

TEST(RotaryTables, LinearOnesAreSlower) {
  const auto f = rotary_frequencies({.kind = Kind::kLinear, .theta = 10000, .factor = 8}, 4);
  EXPECT_FLOAT_EQ(f[0], 0.125f);
  EXPECT_FLOAT_EQ(f[1], 0.00125f);
}

TEST(RotaryTables, ProportionalOnesTurnInPart) {
  const auto f =
      rotary_frequencies({.kind = Kind::kProportional, .theta = 10000, .part = 0.25}, 16);
  ASSERT_EQ(f.size(), 8u);
  EXPECT_FLOAT_EQ(f[0], 1);
  EXPECT_FLOAT_EQ(f[1], std::pow(10000.0f, -2.0f / 16));
  for (std::size_t i = 2; i < 8; ++i) EXPECT_EQ(f[i], 0) << i;
}

// Wavelengths 2π, 62.8, 628 and 6283 over a context of 1000: kept below 250, stretched beyond 1000,
// between them 1000/628.3 = 1.5915 turns, of which (1.5915 − 1) / 3 = 0.1972 counts as fast.
TEST(RotaryTables, SlowOnesOfLlama3AreStretched) {
  const auto f = rotary_frequencies({.kind = Kind::kLlama3,
                                     .theta = 10000,
                                     .factor = 8,
                                     .low_factor = 1,
                                     .high_factor = 4,
                                     .original_context = 1000},
                                    8);
  EXPECT_FLOAT_EQ(f[0], 1);
  EXPECT_FLOAT_EQ(f[1], 0.1f);
  EXPECT_NEAR(f[2], 0.01 * (0.19718 + (1 - 0.19718) / 8), 1e-7);
  EXPECT_FLOAT_EQ(f[3], 0.001f / 8);
}

TEST(RotaryTables, TablesBeginAtPositionZero) {
  const auto tables = rotary_tables({.theta = 100}, 4, 3);
  EXPECT_EQ(tables.cosine.shape(), Shape({3, 2}));
  const auto c = tables.cosine.as<float>(), s = tables.sine.as<float>();
  EXPECT_EQ(c[0], 1);
  EXPECT_EQ(s[1], 0);
  EXPECT_FLOAT_EQ(c[4], std::cos(2.0f));
  EXPECT_FLOAT_EQ(s[5], std::sin(0.2f));
}

}  // namespace
}  // namespace assay::models
