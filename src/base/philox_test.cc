// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/philox.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

// numpy.random.Philox(key=[…]).random_raw(6); tests/inputs/compare.py compares a million values
// with NumPy itself.
TEST(Philox, EqualsNumpyRawStream) {
  const Philox zero(0);
  const std::uint64_t expected_zero[] = {213000021201967259u,  4455796210202625458u,
                                         2055444239878205049u, 10411612076246414556u,
                                         9267267987884836803u, 5120919030223861725u};
  for (std::uint64_t i = 0; i < 6; ++i) EXPECT_EQ(zero[i], expected_zero[i]) << i;
  const Philox other(12345, 67890);
  const std::uint64_t expected_other[] = {7980670315518698630u, 18033669047615098037u,
                                          6236102005989951891u, 3891090695232066909u,
                                          4826737098842124198u, 12169022017812148082u};
  for (std::uint64_t i = 0; i < 6; ++i) EXPECT_EQ(other[i], expected_other[i]) << i;
}

TEST(Philox, MapsExactlyToValues) {
  EXPECT_EQ(unit_interval(0), 0.0);
  EXPECT_EQ(unit_interval(~std::uint64_t{0}), 1.0 - 0x1.0p-53);
  EXPECT_EQ(unit_interval(std::uint64_t{1} << 63), 0.5);
  EXPECT_EQ(uniform(std::uint64_t{1} << 63, -3.0, 5.0), 1.0);
  EXPECT_EQ(uniform_below(~std::uint64_t{0}, 10), 9u);
  EXPECT_EQ(uniform_below(0, 10), 0u);
}

TEST(Philox, StreamsOfDifferentNamesDiffer) {
  EXPECT_EQ(stream_key("a"), 0x61u);
  EXPECT_EQ(stream_key("ab"), 0x6261u);
  EXPECT_NE(Philox(0, stream_key("a"))[0], Philox(0, stream_key("b"))[0]);
}

TEST(Philox, UnitIntervalHasTheMomentsOfAUniform) {
  const Philox stream(7);
  constexpr int kCount = 100'000;
  double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double u = unit_interval(stream[i]);
    sum += u;
    squares += u * u;
  }
  // Five standard errors: sd of a uniform is 1/sqrt(12), of its square sqrt(4/45).
  EXPECT_NEAR(sum / kCount, 0.5, 5 * std::sqrt(1.0 / 12 / kCount));
  EXPECT_NEAR(squares / kCount, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kCount));
}

}  // namespace
}  // namespace assay
