// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/precision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "base/philox.h"
#include "lab/run/budget.h"
#include "lab/testing/toy_case.h"

namespace assay::lab {
namespace {

class PrecisionTest : public testing::Test {
 protected:
  PrecisionTest() {
    plan_.definition = &case_;
    plan_.point = case_.point(8);
    plan_.baseline = "plain";
    for (const char* name : {"plain", "other", "plain@b"}) add(name);
  }
  void add(const std::string& name) {
    plan_.contenders.push_back(
        {.name = name,
         .provider = {.id = std::string(provider_of(name)), .description = ""},
         .side_worker = "",
         .side_sha256 = "",
         .platform = "cpu",
         .command = {},
         .versions = {},
         .refused = {}});
  }
  // One round of all contenders, each `spread` apart from the common time in alternating sense.
  void round(int r, double spread) {
    double sign = r % 2 == 0 ? 1 : -1;
    for (const auto& c : plan_.contenders) {
      Row row;
      row.case_name = case_.name();
      row.point = plan_.point;
      row.provider = c.name;
      row.platform = "cpu";
      row.round = r;
      row.metrics["steady_time"] = (1 + r) * std::exp(sign * spread);
      rows_.push_back(row);
      sign = -sign;
    }
  }
  PointPrecision assess(int rounds, double target) {
    return assess_precision(plan_, rows_, rounds, target);
  }

  ToyCase case_;
  PointPlan plan_;
  std::vector<Row> rows_;
};

TEST_F(PrecisionTest, ComparedWithTheOwnProviderFirst) {
  EXPECT_EQ(reference_of(plan_, 0), std::nullopt);
  EXPECT_EQ(reference_of(plan_, 1), 0u);
  EXPECT_EQ(reference_of(plan_, 2), 0u);
  plan_.contenders[0].refused = Refusal{};
  EXPECT_EQ(reference_of(plan_, 1), std::nullopt);
  EXPECT_EQ(reference_of(plan_, 2), std::nullopt);
}

TEST_F(PrecisionTest, MetOnlyAtALook) {
  for (int r = 0; r < 14; ++r) round(r, 0.001);
  EXPECT_EQ(assess(9, 0.01).decision, Stopping::kContinue);
  EXPECT_EQ(assess(10, 0.01).decision, Stopping::kMet);
  EXPECT_EQ(assess(13, 0.01).decision, Stopping::kContinue);
  const auto state = assess(14, 0.01);
  EXPECT_EQ(state.decision, Stopping::kMet);
  ASSERT_EQ(state.precision.size(), 2u);
  EXPECT_NEAR(state.precision.at("other"), std::expm1(0.002), 1e-12);
  EXPECT_EQ(assess(14, 0.001).decision, Stopping::kContinue);
}

TEST_F(PrecisionTest, ExhaustedAtTheLastLook) {
  for (int r = 0; r < 80; ++r) round(r, 0.1);
  EXPECT_EQ(assess(56, 0.01).decision, Stopping::kContinue);
  EXPECT_EQ(assess(80, 0.01).decision, Stopping::kExhausted);
  EXPECT_EQ(stop_record(assess(80, 0.01), 0.01, false).decision, "exhausted");
}

TEST_F(PrecisionTest, WhatFailedIsNotWaitedFor) {
  for (int r = 0; r < 10; ++r) round(r, 0.001);
  rows_[4].status = Status::kCrashed;   // of "other"
  rows_[5].status = Status::kExcluded;  // void: the round lacks it, no more
  const auto state = assess(10, 0.01);
  EXPECT_EQ(state.precision.count("other"), 0u);
  EXPECT_EQ(state.decision, Stopping::kMet);
  for (auto& row : rows_) row.status = Status::kCrashed;
  EXPECT_EQ(assess(9, 0.01).decision, Stopping::kContinue);
  EXPECT_EQ(assess(10, 0.01).decision, Stopping::kExhausted);
  EXPECT_EQ(stop_record(assess(10, 0.01), 0.01, false).decision, "no_ratio");
}

TEST_F(PrecisionTest, AnIntervalThatIsNotThereIsNotPrecise) {
  for (int r = 0; r < 10; ++r) round(r, 0);
  for (int r = 0; r < 5; ++r) rows_[static_cast<std::size_t>(3 * r + 1)].status = Status::kExcluded;
  const auto state = assess(10, 0.01);
  EXPECT_TRUE(std::isinf(state.precision.at("other")));  // five pairs have no interval
  EXPECT_EQ(state.decision, Stopping::kContinue);
  EXPECT_EQ(stop_record(state, 0.01, true).decision, "budget");
  EXPECT_EQ(stop_record(state, 0.01, true).worst, INFINITY);
}

// A clock that attempts of random length move on: the budget is exceeded by less than one attempt,
// and later points get what earlier ones left.
TEST(BudgetTest, ExceededByLessThanOneAttempt) {
  const Philox random(1, stream_key("budget"));
  std::uint64_t next = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const int points = 1 + static_cast<int>(uniform_below(random[next++], 7));
    const double total = uniform(random[next++], 1, 100);
    const std::int64_t start = 1'000'000'000;
    std::int64_t now = start, last = 0;
    const Budget budget(total, 0, start, 1);
    std::vector<int> made;
    for (int left = points; left > 0; --left) {
      const auto until = budget.share_until(now, left);
      EXPECT_LE(until, start + static_cast<std::int64_t>(1e9 * total) + 1);
      made.push_back(0);
      while (now < until) {
        last = static_cast<std::int64_t>(1e9 * uniform(random[next++], 0.01, 0.2));
        now += last;
        ++made.back();
      }
    }
    EXPECT_LT(now - last, start + static_cast<std::int64_t>(1e9 * total) + 1) << trial;
    for (const int m : made) EXPECT_GT(m, 0) << "every point gets a share";
  }
}

TEST(BudgetTest, NoLimitAndSpentBudget) {
  EXPECT_FALSE(Budget(0, 0, 5, 1).limited());
  EXPECT_GT(Budget(0, 0, 5, 1).share_until(5, 3), std::int64_t{1} << 60);
  EXPECT_EQ(Budget(10, 20, 1000, 1).share_until(1000, 3), 1000);  // a resumed run that used it up
  // Two groups work on two of four points at a time: half of the time each.
  EXPECT_EQ(Budget(10, 0, 0, 2).share_until(0, 4), 5'000'000'000);
  EXPECT_EQ(Budget(10, 0, 0, 2).share_until(0, 1), 10'000'000'000);
}

}  // namespace
}  // namespace assay::lab
