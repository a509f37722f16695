// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/exits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/exit_status.h"
#include "lab/decide/gate.h"
#include "lab/testing/decision_rows.h"

namespace assay::lab {
namespace {

using namespace testing_rows;

constexpr const char* kLater = "20260102T000000.000000Z-bbbbbbb";

std::vector<Row> rows_of(std::initializer_list<Status> statuses) {
  std::vector<Row> rows;
  int number = 0;
  for (const auto status : statuses) {
    append(rows, make_rounds(6, {.provider = "p" + std::to_string(number++), .status = status}));
  }
  return rows;
}

int of_run(std::initializer_list<Status> statuses, bool strict = false) {
  return coverage_of(summarise(rows_of(statuses))).exit_status(strict);
}

TEST(Exits, NothingMeasuredIsNotFine) {
  using enum Status;
  EXPECT_EQ(coverage_of({}).exit_status(false), assay::kUnresolved);
  for (const auto status : {kTimeout, kEnvMissing, kSkipped, kCrashed, kOutOfMemory, kFailed}) {
    EXPECT_EQ(of_run({status, status}), assay::kUnresolved) << name_of(status);
    EXPECT_EQ(of_run({kOk, status}), kFine) << name_of(status);
    EXPECT_EQ(of_run({kOk, status}, true), assay::kUnresolved) << name_of(status);
  }
  EXPECT_EQ(of_run({kOk, kOk}, true), kFine);
  EXPECT_EQ(of_run({kOk, kWrongResult, kTimeout}), kWrongResults);
}

TEST(Exits, WhatIsLeftOutOnPurposeIsNotMissing) {
  auto rows = rows_of({Status::kOk, Status::kSkipped});
  for (auto& row : rows) {
    if (row.failure) row.failure->code = "excluded";
  }
  EXPECT_EQ(coverage_of(summarise(rows)).exit_status(true), kFine);
  for (auto& row : rows) {
    if (row.failure) row.failure->code = "no_device";
  }
  EXPECT_EQ(coverage_of(summarise(rows)).exit_status(true), assay::kUnresolved);
}

TEST(Exits, TheBudgetAndThePrecisionCount) {
  const auto summaries = summarise(rows_of({Status::kOk}));
  EXPECT_EQ(coverage_of(summaries, {}, 2).exit_status(false), kFine);
  EXPECT_EQ(coverage_of(summaries, {}, 2).exit_status(true), assay::kUnresolved);
  EXPECT_EQ(coverage_of(summaries, {}, 2).lacks, "2 not reached within the budget");
  PointStop stop;
  stop.stopping.decision = "exhausted";
  EXPECT_EQ(coverage_of(summaries, {&stop, 1}).exit_status(true), assay::kUnresolved);
  stop.stopping.decision = "met";
  EXPECT_EQ(coverage_of(summaries, {&stop, 1}).exit_status(true), kFine);
  EXPECT_EQ(coverage_of(summarise(rows_of({Status::kOk, Status::kTimeout}))).lacks,
            "1 of 2 not measured: 1 timeout");
}

TEST(Exits, AComparisonOfNothingIsNotFine) {
  const auto ok = make_rounds(12, {}), later = make_rounds(12, {.run_id = kLater});
  const auto other = make_rounds(12, {.provider = "other", .run_id = kLater});
  const auto status = [](const std::vector<Row>& a, const std::vector<Row>& b, bool strict) {
    return exit_status_of(compare_matches(match_rows(a, b)), strict);
  };
  EXPECT_EQ(status(ok, later, true), kFine);
  EXPECT_EQ(status(ok, other, false), assay::kUnresolved);
  auto both = later;
  append(both, other);
  EXPECT_EQ(status(ok, both, false), kFine);
  EXPECT_EQ(status(ok, both, true), assay::kUnresolved);
  EXPECT_EQ(status(make_rounds(2, {}), make_rounds(2, {.run_id = kLater}), true),
            assay::kUnresolved);
}

struct Sides {
  std::vector<Row> baseline, current;
  Sides& row(const char* provider, std::optional<Status> before, std::optional<Status> after) {
    if (before) append(baseline, make_rounds(12, {.provider = provider, .status = *before}));
    if (after) {
      append(current, make_rounds(12, {.provider = provider, .run_id = kLater, .status = *after}));
    }
    return *this;
  }
  int gate(bool strict, bool calibrated = true) const {
    GateOptions options;
    options.strict = strict;
    if (calibrated) options.floor = [](const std::string&) { return 0.01; };
    return judge_gate(baseline, current, options).exit_status();
  }
};

TEST(Exits, AGateThatHasShownNothingIsUnresolved) {
  using enum Status;
  EXPECT_EQ(Sides().row("p", kCrashed, kCrashed).gate(false), assay::kUnresolved);
  EXPECT_EQ(Sides().row("p", kEnvMissing, kEnvMissing).gate(false), assay::kUnresolved);
  EXPECT_EQ(Sides().row("p", kOk, kEnvMissing).gate(false), assay::kUnresolved);
  EXPECT_EQ(Sides().row("p", kOk, {}).row("q", {}, kOk).gate(false), assay::kUnresolved);
  EXPECT_EQ(Sides().row("p", kCrashed, kOk).gate(false), kFine);
  EXPECT_EQ(Sides().row("p", kOk, kCrashed).gate(false), kWrongResults);
}

TEST(Exits, AStrictGateMissesNothing) {
  using enum Status;
  EXPECT_EQ(Sides().row("p", kOk, kOk).gate(true), kFine);
  EXPECT_EQ(Sides().row("p", kOk, kOk).gate(true, false), assay::kUnresolved);
  EXPECT_EQ(Sides().row("p", kOk, kOk).gate(false, false), kFine);
  const std::pair<std::optional<Status>, std::optional<Status>> lacking[] = {
      {kOk, kEnvMissing}, {kCrashed, kCrashed}, {kOk, {}}, {{}, kOk}};
  for (const auto& [before, after] : lacking) {
    const auto sides = Sides().row("fine", kOk, kOk).row("p", before, after);
    EXPECT_EQ(sides.gate(false), kFine);
    EXPECT_EQ(sides.gate(true), assay::kUnresolved);
  }
}

}  // namespace
}  // namespace assay::lab
