// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/math/exp_log.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "base/philox.h"
#include "kernels/math/exp_log_check.h"
#include "kernels/targets.h"

namespace assay::kernels {
namespace {

TEST(ExpLog, WithinOneUlpOverAStrideOfAllFloats) {
  // A prime stride meets all exponents and fractions of both signs; exp_log_sweep has them all.
  for (const InstructionSet& set : instruction_sets()) {
    const OnlyInstructionSet only(set);
    const WorstErrors worst = worst_errors(0, std::uint64_t{1} << 32, 4093);
    EXPECT_LE(worst.exp, 1.0) << set.name << " at " << worst.exp_at;
    EXPECT_LE(worst.log, 1.0) << set.name << " at " << worst.log_at;
  }
}

TEST(ExpLog, DoublesWithinTwoUlp) {
  // Against 64-bit extended precision, whose own error is 2^-11 ulp of a double.
  if (std::numeric_limits<long double>::digits < 64)
    GTEST_SKIP() << "no wider type to compare with";
  constexpr std::size_t kCount = 200'000;
  std::vector<double> x(kCount), y(kCount);
  const Philox stream(1);
  for (std::size_t i = 0; i < kCount; ++i) {
    const double unit = unit_interval(stream[i]);
    x[i] = i % 4 == 0   ? -745 + unit * 1454
           : i % 4 == 1 ? std::ldexp(1 + unit, static_cast<int>(stream[i] % 2040) - 1020)
           : i % 4 == 2 ? 4 * unit - 2
                        : 1 + (unit - 0.5) * std::exp(-static_cast<double>(i % 30));
  }
  const auto error = [](double actual, long double expected) {
    const int exponent = std::max(std::ilogb(expected), -1022);
    return static_cast<double>(std::abs(actual - expected) / std::ldexp(1.0L, exponent - 52));
  };
  for (const InstructionSet& set : instruction_sets()) {
    const OnlyInstructionSet only(set);
    exp(std::span<const double>(x), y);
    for (std::size_t i = 0; i < kCount; ++i) {
      const long double expected = std::exp(static_cast<long double>(x[i]));
      if (expected > std::numeric_limits<double>::max()) {
        ASSERT_EQ(y[i], INFINITY) << x[i];
      } else {
        ASSERT_LE(error(y[i], expected), 1.01) << set.name << " exp of " << x[i];
      }
    }
    log(std::span<const double>(x), y);
    for (std::size_t i = 0; i < kCount; ++i) {
      if (!(x[i] > 0) || x[i] == 1) continue;
      ASSERT_LE(error(y[i], std::log(static_cast<long double>(x[i]))), 1.01)
          << set.name << " log of " << x[i];
    }
  }
}

template <typename T>
void check_specials() {
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity(), nan = Limits::quiet_NaN(), tiny = Limits::denorm_min();
  const std::vector<T> x = {
      0,  -T{0}, inf, -inf, nan, tiny, -tiny, 1, -1, Limits::max(), Limits::lowest(), Limits::min(),
      nan};
  std::vector<T> y(x.size());
  exp(std::span<const T>(x), y);
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], inf);
  EXPECT_EQ(y[3], 0);
  EXPECT_TRUE(std::isnan(y[4]));
  EXPECT_EQ(y[5], 1);
  EXPECT_EQ(y[6], 1);
  EXPECT_EQ(y[9], inf);
  EXPECT_EQ(y[10], 0);
  log(std::span<const T>(x), y);
  EXPECT_EQ(y[0], -inf);
  EXPECT_EQ(y[1], -inf);
  EXPECT_EQ(y[2], inf);
  for (const std::size_t i : {3, 4, 6, 8, 10, 12}) EXPECT_TRUE(std::isnan(y[i])) << i;
  EXPECT_EQ(y[7], 0);
  // In place, and no element more than asked for.
  std::vector<T> z = {2, 2, 2, 2, 2, 2, 2};
  exp(std::span<const T>(z.data(), 3), std::span<T>(z.data(), 3));
  EXPECT_NE(z[2], 2);
  EXPECT_EQ(z[3], 2);
  exp(std::span<const T>(), std::span<T>());
  EXPECT_THROW(exp(std::span<const T>(x), std::span<T>(z)), InternalError);
}

TEST(ExpLog, SpecialValues) {
  for (const InstructionSet& set : instruction_sets()) {
    const OnlyInstructionSet only(set);
    check_specials<float>();
    check_specials<double>();
  }
}

}  // namespace
}  // namespace assay::kernels
