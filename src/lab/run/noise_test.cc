// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/noise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::lab {
namespace {

using testing::HasSubstr;

NoiseSnapshot at(std::int64_t total, std::int64_t steal) {
  NoiseSnapshot s;
  s.total_ticks = {{0, total}, {1, total}};
  s.steal_ticks = {{0, steal}, {1, 0}};
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
  EXPECT_FALSE(contamination(at(0, 0), at(100, 1), 0.02));
  EXPECT_THAT(contamination(at(0, 0), at(100, 11), 0.02).value_or(""), HasSubstr("5.0 %"));
  EXPECT_FALSE(contamination(at(0, 0), at(100, 11), 1.0));
  auto swapped = at(100, 0);
  swapped.pages_swapped = 3;
  EXPECT_THAT(contamination(at(0, 0), swapped, 0.02).value_or(""), HasSubstr("swap: 3 pages"));
  auto cool = at(0, 0), hot = at(100, 0);
  cool.throttle_events = 5;
  hot.throttle_events = 7;
  EXPECT_THAT(contamination(cool, hot, 0.02).value_or(""), HasSubstr("throttling: 2 events"));
}

TEST(Noise, ReadsThisMachine) {
  const auto noise = read_noise({0});
  EXPECT_EQ(noise.total_ticks.size(), 1u);
  EXPECT_GT(noise.total_ticks.at(0), 0);
  EXPECT_GT(noise.free_memory, 0u);
}

}  // namespace
}  // namespace assay::lab
