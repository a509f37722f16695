// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/attempt_row.h"

#include <gtest/gtest.h>

#include <set>

#include "lab/testing/toy_case.h"

namespace assay::lab {
namespace {

// Remembers what it was asked to draw.
class DrawnCase : public ToyCase {
 public:
  std::vector<Expectation> expect(const Json& p, int set, std::int64_t draw) const override {
    draws.insert(draw);
    return ToyCase::expect(p, set, draw);
  }
  mutable std::set<std::int64_t> draws;
};

TEST(Expectations, EveryRunDrawsRowsOfItsOwnAndTheSetsOfARunTheSame) {
  const DrawnCase definition;
  const Json point = definition.point(8);
  for (const char* run : {"run-a", "run-b"}) {
    Expectations expectations(definition, point, run);
    for (const int set : {0, 1, kJudgedSet}) expectations(set);
  }
  EXPECT_EQ(definition.draws.size(), 2u);
}

// Ten batches of four calls, each call of so many seconds.
WorkerReport report_of(double call_s) {
  WorkerReport report;
  report.steady_s = std::vector<double>(10, call_s);
  report.batch_calls = 4;
  return report;
}

TEST(ImpossibleTimes, WhatTheRunnersClockAllows) {
  EXPECT_EQ(impossible_times(report_of(0.01), 0.4, 0.6, 0), "");    // all of the phase
  EXPECT_EQ(impossible_times(report_of(0.006), 0.4, 0.6, 0), "");   // more than half of it
  EXPECT_EQ(impossible_times(report_of(1e-6), 0, 0.6, 0), "");      // the phase was not seen
  EXPECT_EQ(impossible_times(report_of(1e-6), 0.03, 0.6, 0), "");   // too short to tell
  EXPECT_EQ(impossible_times(report_of(1e-5), 0.4, 0.6, 0.3), "");  // others had the cores
}

TEST(ImpossibleTimes, LessThanThePhaseAndMoreThanTheProcess) {
  EXPECT_EQ(impossible_times(report_of(1e-5), 0.4, 0.6, 0),
            "the worker reports 0.0004 s of calls in a phase that took at least 0.4 s");
  EXPECT_NE(impossible_times(report_of(1e-5), 0.4, 0.6, 0.1), "");
  EXPECT_EQ(impossible_times(report_of(0.1), 0.4, 0.6, 0),
            "the worker reports 4 s of calls in a process that lived 0.6 s");
}

}  // namespace
}  // namespace assay::lab
