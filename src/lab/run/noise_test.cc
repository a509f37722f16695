// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/noise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace assay::lab {
namespace {

using testing::HasSubstr;

NoiseSnapshot at(std::int64_t total, std::int64_t steal) {
  NoiseSnapshot s;
  s.total_ticks = {{0, total}, {1, total}};
  s.steal_ticks = {{0, steal}, {1, 0}};
  s.busy_ticks = {{0, 0}, {1, 0}};
  return s;
}

TEST(Noise, StealIsAShareOfTheGroupsTimeLessOneTick) {
  EXPECT_DOUBLE_EQ(steal_fraction(at(1000, 10), at(1050, 16)), 0.05);
  EXPECT_DOUBLE_EQ(steal_fraction(at(1000, 10), at(1010, 11)), 0);
  EXPECT_DOUBLE_EQ(steal_fraction(at(1000, 10), at(1000, 10)), 0);
}

TEST(Noise, ATickOfRoundingOnEachOfManyProcessorsIsNoSteal) {
  NoiseSnapshot before, after;
  for (int cpu = 0; cpu < 16; ++cpu) {
    before.total_ticks[cpu] = before.steal_ticks[cpu] = 0;
    after.total_ticks[cpu] = 30;
    after.steal_ticks[cpu] = 1;
  }
  EXPECT_DOUBLE_EQ(steal_fraction(before, after), 0);
  after.steal_ticks[3] = 13;
  EXPECT_DOUBLE_EQ(steal_fraction(before, after), 12.0 / 480);
}

TEST(Noise, CausesExcludeAndAreNamed) {
  EXPECT_FALSE(contamination(at(0, 0), at(100, 1), 0, {0.02, 1}));
  EXPECT_THAT(contamination(at(0, 0), at(100, 11), 0, {0.02, 1}).value_or(""), HasSubstr("5.0 %"));
  EXPECT_FALSE(contamination(at(0, 0), at(100, 11), 0, {1.0, 1}));
  auto swapped = at(100, 0);
  swapped.pages_swapped = 3;
  EXPECT_THAT(contamination(at(0, 0), swapped, 0, {0.02, 1}).value_or(""),
              HasSubstr("swap: 3 pages"));
  auto cool = at(0, 0), hot = at(100, 0);
  cool.throttle_events = 5;
  hot.throttle_events = 7;
  EXPECT_THAT(contamination(cool, hot, 0, {0.02, 1}).value_or(""),
              HasSubstr("throttling: 2 events"));
}

NoiseSnapshot busy(std::int64_t total, std::int64_t first, std::int64_t second) {
  auto s = at(total, 0);
  s.busy_ticks = {{0, first}, {1, second}};
  return s;
}

TEST(Noise, ForeignLoadIsWhatIsBusyLessOurOwnAndTwoTicksOfRounding) {
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  // Two processors, 200 ticks in all: 90 ours, 106 busy.
  EXPECT_DOUBLE_EQ(foreign_fraction(busy(0, 0, 0), busy(100, 96, 10), 90 * tick), 12.0 / 200);
  EXPECT_DOUBLE_EQ(foreign_fraction(busy(0, 0, 0), busy(100, 94, 0), 90 * tick), 0);
  EXPECT_DOUBLE_EQ(foreign_fraction(busy(0, 0, 0), busy(100, 50, 0), 90 * tick), 0);
  EXPECT_DOUBLE_EQ(foreign_fraction(busy(7, 1, 1), busy(7, 1, 1), 0), 0);
  const auto why = contamination(busy(0, 0, 0), busy(100, 96, 10), 90 * tick, {1, 0.02});
  EXPECT_THAT(why.value_or(""), HasSubstr("other programs took 6.0 %"));
  EXPECT_FALSE(contamination(busy(0, 0, 0), busy(100, 96, 10), 90 * tick, {1, 0.07}));
}

TEST(Noise, ReadsThisMachine) {
  const auto noise = read_noise({0});
  EXPECT_EQ(noise.total_ticks.size(), 1u);
  EXPECT_GT(noise.total_ticks.at(0), 0);
  EXPECT_GT(noise.busy_ticks.at(0), 0);
  EXPECT_GT(noise.free_memory, 0u);
}

}  // namespace
}  // namespace assay::lab
