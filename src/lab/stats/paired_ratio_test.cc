// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/paired_ratio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "lab/stats/sign_interval.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Values = std::vector<double>;

TEST(PairedRatio, IsTheMedianOfTheRounds) {
  const Values a = {2, 8, 3}, b = {1, 2, 3};  // ratios 2, 4, 1
  const auto r = paired_ratio(a, b);
  EXPECT_DOUBLE_EQ(r.ratio, 2);
  EXPECT_EQ(r.rounds, 3);
  EXPECT_FALSE(r.interval);
}

TEST(PairedRatio, IntervalIsTheOrderStatistics) {
  // R = 10 at 95 %: k = 2, so the second smallest and the second largest ratio.
  const Values a = {10, 1, 9, 2, 8, 3, 7, 4, 6, 5}, b(10, 1.0);
  const auto r = paired_ratio(a, b);
  ASSERT_TRUE(r.interval);
  EXPECT_DOUBLE_EQ(r.interval->low, 2);
  EXPECT_DOUBLE_EQ(r.interval->high, 9);
  EXPECT_DOUBLE_EQ(r.ratio, std::sqrt(5.0 * 6.0));  // the mean of two logarithms
  EXPECT_DOUBLE_EQ(r.interval->coverage, 1 - 2 * 11.0 / 1024);
}

TEST(PairedRatio, SixRoundsAtNinetyNinePercentHaveNoInterval) {
  const Values a = {1, 2, 3, 4, 5, 6}, b(6, 1.0);
  EXPECT_TRUE(paired_ratio(a, b, 0.95).interval);
  EXPECT_FALSE(paired_ratio(a, b, 0.99).interval);
}

TEST(PairedRatio, TiesAreExactlyOne) {
  const Values a(7, 0.1);
  const auto r = paired_ratio(a, a);
  EXPECT_EQ(r.ratio, 1);
  EXPECT_EQ(r.interval->low, 1);
  EXPECT_EQ(r.interval->high, 1);
}

TEST(PairedRatio, DriftCommonToBothSidesCancels) {
  Values a, b;
  for (int r = 0; r < 8; ++r) {
    b.push_back(std::ldexp(1.0, 3 * r));  // powers of two: the logarithms differ by rounding only
    a.push_back(2 * b.back());
  }
  const auto r = paired_ratio(a, b);
  EXPECT_NEAR(r.interval->low, 2, 1e-14);
  EXPECT_NEAR(r.interval->high, 2, 1e-14);
}

TEST(PairedRatio, ExtremesNeitherOverflowNorUnderflow) {
  const Values a(6, 1e-300), b(6, 1e300);   // a/b underflows, the difference of logarithms does not
  EXPECT_EQ(paired_ratio(a, b).ratio, 0);   // exp(−1381.6) is below the smallest double
  const Values c(6, 3e-310), d(6, 1e-310);  // denormal times
  EXPECT_NEAR(paired_ratio(c, d).ratio, 3, 1e-10);
}

TEST(PairedRatio, WhatIsNoTimeIsRefused) {
  const double inf = std::numeric_limits<double>::infinity();
  const Values good = {1, 1};
  for (const double bad : {0.0, -0.0, -1.0, inf, -inf, std::nan("")}) {
    EXPECT_THAT(
        [&] {
          paired_ratio(Values{1, bad}, good);
        },
        ThrowsMessage<UserError>(HasSubstr("round 1")))
        << bad;
    EXPECT_THAT(
        [&] {
          paired_ratio(good, Values{bad, 1});
        },
        ThrowsMessage<UserError>(HasSubstr("round 0")))
        << bad;
  }
  EXPECT_THAT([] { paired_ratio({}, {}); }, ThrowsMessage<UserError>("paired ratio: no rounds"));
  EXPECT_THROW(paired_ratio(good, Values{1}), InternalError);
}

// Coverage over simulated experiments. The interval is exact for continuous d with median zero,
// whatever the distribution, so the number of experiments that cover is Bin(N, coverage).

class Noise {
 public:
  explicit Noise(std::uint64_t seed) : stream_(seed, stream_key("noise")) {}
  double unit() { return unit_interval(stream_[next_++]); }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }

 private:
  Philox stream_;
  std::uint64_t next_ = 0;
};

using Draw = double (*)(Noise&);
struct Shape {
  const char* name;
  Draw draw;  // one attempt's time, median about 1
  friend void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }
};

const Shape kShapes[] = {
    {"normal", [](Noise& n) { return 1 + 0.02 * n.normal(); }},
    {"lognormal", [](Noise& n) { return std::exp(0.3 * n.normal()); }},
    {"spiky", [](Noise& n) { return (1 + 0.01 * n.normal()) * (n.unit() < 0.1 ? 3 : 1); }},
};

class Coverage : public testing::TestWithParam<Shape> {};

TEST_P(Coverage, IsWhatTheIntervalSays) {
  constexpr int kExperiments = 4000;
  constexpr double kTrueRatio = 1.07;
  for (const int rounds : {6, 10, 20, 40}) {
    Noise noise(static_cast<std::uint64_t>(rounds));
    int covered = 0;
    double stated = 0;
    for (int e = 0; e < kExperiments; ++e) {
      Values a, b;
      for (int r = 0; r < rounds; ++r) {
        const double drift = 1 + 0.01 * r;  // common to both sides of a round
        a.push_back(kTrueRatio * drift * GetParam().draw(noise));
        b.push_back(drift * GetParam().draw(noise));
      }
      const auto interval = paired_ratio(a, b).interval;
      ASSERT_TRUE(interval);
      stated = interval->coverage;
      covered += interval->low <= kTrueRatio && kTrueRatio <= interval->high;
    }
    EXPECT_GE(stated, 0.95);
    // Four standard deviations: with twelve such tests, a false alarm in a thousand seeds.
    const double sigma = std::sqrt(kExperiments * stated * (1 - stated));
    EXPECT_NEAR(covered, kExperiments * stated, 4 * sigma) << GetParam().name << " R=" << rounds;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Coverage, testing::ValuesIn(kShapes),
                         [](const auto& shape) { return std::string(shape.param.name); });

}  // namespace
}  // namespace assay::lab
