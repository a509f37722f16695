// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/ledger.h"

#include <gtest/gtest.h>

#include "lab/testing/toy_case.h"

namespace assay::lab {
namespace {

class LedgerTest : public testing::Test {
 protected:
  Row row(int n, int round, Status status, int try_number = 0) {
    Row r;
    r.case_name = case_.name();
    r.point = case_.point(n);
    r.provider = "plain";
    r.platform = "cpu";
    r.round = round;
    r.try_number = try_number;
    r.order = order_++;
    r.status = status;
    return r;
  }
  std::optional<int> next(int n, int round) {
    return ledger_.next_try(case_, case_.point(n), "plain", "cpu", round);
  }
  std::string given_up(int n) {
    const auto skip = ledger_.given_up(case_, case_.point(n), "plain", "cpu");
    return skip ? skip->code : "";
  }
  ToyCase case_;
  Ledger ledger_{3};
  int order_ = 0;
};

TEST_F(LedgerTest, AnAttemptIsMadeOnce) {
  EXPECT_EQ(next(8, 0), 0);
  ledger_.record(case_, row(8, 0, Status::kOk));
  EXPECT_EQ(next(8, 0), std::nullopt);
  EXPECT_EQ(next(8, 1), 0);
  EXPECT_EQ(next(9, 0), 0);
  EXPECT_EQ(ledger_.next_order(), 1);
}

TEST_F(LedgerTest, VoidAttemptsAreTriedAgainButNotForever) {
  ledger_.record(case_, row(8, 0, Status::kExcluded, 0));
  EXPECT_EQ(next(8, 0), 1);
  ledger_.record(case_, row(8, 0, Status::kInterrupted, 1));
  EXPECT_EQ(next(8, 0), 2);
  ledger_.record(case_, row(8, 0, Status::kExcluded, 2));
  EXPECT_EQ(next(8, 0), 3) << "an interruption is nobody's disturbance";
  ledger_.record(case_, row(8, 0, Status::kExcluded, 3));
  EXPECT_EQ(next(8, 0), std::nullopt);
}

TEST_F(LedgerTest, WhatIsInterruptedAgainAndAgainIsStillMade) {
  for (int i = 0; i < 10; ++i) {
    ledger_.record(case_, row(8, 0, Status::kInterrupted, i));
    EXPECT_EQ(next(8, 0), i + 1);
  }
}

TEST_F(LedgerTest, WhereEveryAttemptIsDisturbedNoneIsRepeated) {
  auto kept = row(8, 0, Status::kOk, 2);
  kept.provenance.contaminated = "load";
  for (int round = 0; round < Ledger::kMostKept; ++round) {
    EXPECT_TRUE(ledger_.may_repeat(0)) << round;
    EXPECT_FALSE(ledger_.may_repeat(2)) << "it was the last of three";
    kept.round = round;
    ledger_.record(case_, row(8, round, Status::kExcluded));
    ledger_.record(case_, kept);
  }
  EXPECT_FALSE(ledger_.may_repeat(0));
  ledger_.record(case_, row(8, 5, Status::kOk));
  EXPECT_TRUE(ledger_.may_repeat(0));
}

TEST_F(LedgerTest, FailuresAreComplete) {
  for (const auto status :
       {Status::kCrashed, Status::kFailed, Status::kWrongResult, Status::kSkipped}) {
    Ledger fresh(3);
    fresh.record(case_, row(8, 0, status));
    EXPECT_EQ(fresh.next_try(case_, case_.point(8), "plain", "cpu", 0), std::nullopt);
    EXPECT_FALSE(fresh.given_up(case_, case_.point(8), "plain", "cpu"));
  }
}

TEST_F(LedgerTest, ATimeoutEndsThePointAndOutOfMemoryAllLargerOnes) {
  ledger_.record(case_, row(8, 0, Status::kTimeout));
  EXPECT_EQ(given_up(8), "after_timeout");
  EXPECT_EQ(given_up(16), "");
  ledger_.record(case_, row(32, 0, Status::kOutOfMemory));
  EXPECT_EQ(given_up(31), "");
  EXPECT_EQ(given_up(32), "after_out_of_memory");
  EXPECT_EQ(given_up(64), "after_out_of_memory");
  EXPECT_EQ(
      ledger_.given_up(case_, case_.point(64), "plain", "cpu")->message,
      "this provider ran out of memory where less is needed: " + point_label(case_.point(32)));
}

}  // namespace
}  // namespace assay::lab
