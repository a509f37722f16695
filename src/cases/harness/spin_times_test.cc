// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/harness/spin_times.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace assay::cases::harness {
namespace {

Json point(int process_bp, int call_bp, int spikes_bp, int slower_bp) {
  return {{"mean_us", 1000},
          {"process_bp", process_bp},
          {"call_bp", call_bp},
          {"spikes_bp", spikes_bp},
          {"slower_bp", slower_bp},
          {"dtype", "f64"},
          {"seed", 7}};
}

TEST(SpinTimes, SameAttemptSameTimes) {
  const SpinTimes a(point(100, 100, 200, 0), "x", false), b(point(100, 100, 200, 0), "x", false),
      c(point(100, 100, 200, 0), "y", false);
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(a.of_call(i), b.of_call(i));
  EXPECT_NE(a.process(), c.process());
}

TEST(SpinTimes, WithoutSpreadTheMean) {
  EXPECT_DOUBLE_EQ(SpinTimes(point(0, 0, 0, 500), "x", false).of_call(3), 1e-3);
  EXPECT_DOUBLE_EQ(SpinTimes(point(0, 0, 0, 500), "x", true).of_call(3), 1.05e-3);
  EXPECT_DOUBLE_EQ(SpinTimes(point(0, 0, 10'000, 0), "x", false).of_call(3), 3e-3);
}

// Over n draws a standard deviation is known to a share 1/√(2n), a rate to √(p/n): four of them.
TEST(SpinTimes, HasTheSpreadsAsked) {
  constexpr int kDraws = 4000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = SpinTimes(point(100, 0, 0, 0), std::to_string(i), false).of_call(0) / 1e-3 - 1;
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(std::sqrt(squares / kDraws), 0.01, 0.01 * 4 / std::sqrt(2.0 * kDraws));
  EXPECT_NEAR(sum / kDraws, 0, 4 * 0.01 / std::sqrt(1.0 * kDraws));
  const SpinTimes spiky(point(0, 100, 200, 0), "x", false);
  int spikes = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) spikes += spiky.of_call(i) > 2e-3;
  EXPECT_NEAR(spikes, 0.02 * kDraws, 4 * std::sqrt(0.02 * kDraws));
}

}  // namespace
}  // namespace assay::cases::harness
