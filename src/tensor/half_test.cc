// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/philox.h"

namespace assay {
namespace {

template <typename T>
struct Format;
template <>
struct Format<Half> {
  static constexpr int kExponentBits = 5, kFractionBits = 10;
};
template <>
struct Format<BFloat16> {
  static constexpr int kExponentBits = 8, kFractionBits = 7;
};

// The value by the definition of the format, in arithmetic of its own.
template <typename T>
double decoded(int bits) {
  constexpr int kFraction = Format<T>::kFractionBits, kExponent = Format<T>::kExponentBits;
  const int exponent = (bits >> kFraction) & ((1 << kExponent) - 1);
  const int fraction = bits & ((1 << kFraction) - 1);
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  const int bias = (1 << (kExponent - 1)) - 1;
  if (exponent == (1 << kExponent) - 1) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - kFraction);
  return sign * std::ldexp((1 << kFraction) + fraction, exponent - bias - kFraction);
}

template <typename T>
class SixteenBits : public testing::Test {};
using Formats = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(SixteenBits, Formats);

TYPED_TEST(SixteenBits, EveryPatternHasItsValueAndComesBack) {
  const int quiet = 1 << (Format<TypeParam>::kFractionBits - 1);
  for (int bits = 0; bits < 65536; ++bits) {
    const auto value = TypeParam::from_bits(static_cast<std::uint16_t>(bits));
    const double expected = decoded<TypeParam>(bits);
    const auto as_float = static_cast<float>(value);
    const auto as_double = static_cast<double>(value);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(as_float) && std::isnan(as_double)) << bits;
      ASSERT_EQ(std::signbit(as_float), (bits & 0x8000) != 0) << bits;
      // Payload and sign survive; a signalling NaN becomes quiet.
      ASSERT_EQ(TypeParam(as_float).bits, bits | quiet);
      ASSERT_EQ(TypeParam(as_double).bits, bits | quiet);
    } else {
      ASSERT_EQ(as_double, expected) << bits;
      ASSERT_EQ(static_cast<double>(as_float), expected) << bits;
      ASSERT_EQ(TypeParam(as_float).bits, bits);
      ASSERT_EQ(TypeParam(as_double).bits, bits);
    }
  }
}

TYPED_TEST(SixteenBits, RoundsOnceToNearestEvenBetweenAllNeighbours) {
  const int infinity = ((1 << Format<TypeParam>::kExponentBits) - 1)
                       << Format<TypeParam>::kFractionBits;
  const double largest = decoded<TypeParam>(infinity - 1);
  const double beyond = largest + (largest - decoded<TypeParam>(infinity - 2));
  for (int lower = 0; lower < infinity; ++lower) {
    const int upper = lower + 1;
    const double low = decoded<TypeParam>(lower);
    const double high = upper == infinity ? beyond : decoded<TypeParam>(upper);
    const double tie = low + (high - low) / 2;  // exact: one bit more than the format has
    const int even = lower % 2 == 0 ? lower : upper;
    // The neighbours of a tie in double differ from it by less than half a unit of float: a
    // conversion by way of float would land on the tie and then go the wrong way.
    ASSERT_EQ(TypeParam(tie).bits, even);
    ASSERT_EQ(TypeParam(std::nextafter(tie, 0.0)).bits, lower);
    ASSERT_EQ(TypeParam(std::nextafter(tie, INFINITY)).bits, upper);
    ASSERT_EQ(TypeParam(-tie).bits, even | 0x8000);
    ASSERT_EQ(TypeParam(std::nextafter(-tie, -INFINITY)).bits, upper | 0x8000);
    const auto float_tie = static_cast<float>(tie);  // exact for both formats
    ASSERT_EQ(TypeParam(float_tie).bits, even);
    ASSERT_EQ(TypeParam(std::nextafter(float_tie, 0.0f)).bits, lower);
    ASSERT_EQ(TypeParam(std::nextafter(float_tie, INFINITY)).bits, upper);
  }
}

TYPED_TEST(SixteenBits, FloatAndDoubleAgreeOnRandomFloats) {
  const Philox stream(5);
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(stream[i]));
    ASSERT_EQ(TypeParam(x).bits, TypeParam(static_cast<double>(x)).bits) << x;
  }
}

TYPED_TEST(SixteenBits, ExtremesOfDouble) {
  EXPECT_EQ(TypeParam(std::numeric_limits<double>::denorm_min()).bits, 0);
  EXPECT_EQ(TypeParam(-std::numeric_limits<double>::denorm_min()).bits, 0x8000);
  EXPECT_EQ(TypeParam(std::numeric_limits<double>::max()).bits, TypeParam(HUGE_VAL).bits);
  EXPECT_EQ(TypeParam(-0.0).bits, 0x8000);
  EXPECT_EQ(TypeParam(-0.0f).bits, 0x8000);
  EXPECT_EQ(static_cast<float>(TypeParam(1.0)), 1.0f);
}

}  // namespace
}  // namespace assay
