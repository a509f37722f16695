// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Values = std::vector<double>;

TEST(Calibration, FloorIsTheNinetyNinthPercentile) {
  std::vector<Values> comparisons;
  for (int i = 1; i <= 101; ++i) comparisons.push_back(Values(8, (i % 2 ? 1e-4 : -1e-4) * i));
  const auto summary = summarise_aa(comparisons, {});
  EXPECT_EQ(summary.comparisons, 101);
  EXPECT_NEAR(summary.floor, std::expm1(1e-4 * 100), 1e-12);
  EXPECT_NEAR(summary.largest, std::expm1(1e-4 * 101), 1e-12);
  EXPECT_EQ(summary.false_alarms.count, 0);
  EXPECT_EQ(summary.false_alarms.trials, 202);
  EXPECT_GT(summary.false_alarms.interval.high, 0);
  EXPECT_EQ(summary.excludes_one.count, 101);  // all rounds on one side
}

TEST(Calibration, EitherDirectionIsAFalseAlarm) {
  const std::vector<Values> comparisons = {Values(10, 0.2), Values(10, -0.2), Values(10, 0.0)};
  const auto summary = summarise_aa(comparisons, {});
  EXPECT_EQ(summary.false_alarms.count, 2);
  EXPECT_EQ(summary.false_alarms.trials, 6);
  EXPECT_EQ(summary.unresolved.count, 0);
}

TEST(Calibration, ToleranceIsTheLarger) {
  EXPECT_EQ(effective_tolerance(0.05, 0.01), 0.05);
  EXPECT_EQ(effective_tolerance(0.05, 0.08), 0.08);
  EXPECT_THROW(effective_tolerance(-1, 0), UserError);
}

TEST(Calibration, Refusals) {
  EXPECT_THAT([] { summarise_aa({}, {}); }, ThrowsMessage<UserError>(HasSubstr("no A/A")));
  EXPECT_THROW(rate_of(0, 0), UserError);
  EXPECT_THROW(rate_of(3, 2), UserError);
}

}  // namespace
}  // namespace assay::lab
