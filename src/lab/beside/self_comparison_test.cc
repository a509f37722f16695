// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/self_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace assay::lab {
namespace {

Row attempt(const std::string& provider, int round, double time, const std::string& run = "r",
            int seed = 0) {
  Row row;
  row.run_id = run;
  row.case_name = "toy";
  row.point = {{"seed", seed}};
  row.provider = provider;
  row.platform = "cpu";
  row.round = round;
  row.metrics["steady_time"] = time;
  row.samples.lists["steady_s"] = {time * 0.99, time, time * 1.01};
  return row;
}

TEST(SelfComparison, PairsTheTwoNamesOfAProvider) {
  std::vector<Row> rows;
  for (int r = 0; r < 8; ++r) {
    rows.push_back(attempt("p", r, 1 + r));
    rows.push_back(attempt("p@b", r, 2 * (1 + r)));
    rows.push_back(attempt("q", r, 5));  // has one name only
  }
  rows[0].status = Status::kCrashed;
  rows[3].metrics.clear();
  const auto found = self_comparisons(rows);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].provider, "p");
  EXPECT_EQ(found[0].d.size(), 6u);
  for (const double d : found[0].d) EXPECT_NEAR(d, std::log(2.0), 1e-15);
  EXPECT_TRUE(self_comparisons(rows, 7).empty());
  EXPECT_TRUE(self_comparisons({}).empty());
}

TEST(SelfComparison, PointsAndRunsStayApart) {
  std::vector<Row> rows;
  for (int r = 0; r < 6; ++r) {
    for (int seed = 0; seed < 2; ++seed) {
      rows.push_back(attempt("p", r, 1, "r", seed));
      rows.push_back(attempt("p@b", r, 1, "r", seed));
    }
  }
  EXPECT_EQ(self_comparisons(rows).size(), 2u);
  EXPECT_EQ(noise_lines(rows).size(), 2u);
  const auto together = noise_lines(rows, true);
  ASSERT_EQ(together.size(), 1u);
  EXPECT_EQ(together[0].budget.runs, 2);
  EXPECT_EQ(together[0].budget.attempts, 24);
  EXPECT_NEAR(*together[0].budget.between_processes, 0, 1e-12);
  EXPECT_NEAR(*together[0].budget.within_process, 0.01, 1e-4);
}

TEST(NoiseLines, WhatCannotBeToldIsAbsent) {
  auto bare = attempt("p", 0, 1);
  bare.samples = {};
  const std::vector<Row> one = {bare};
  EXPECT_FALSE(noise_lines(one)[0].budget.within_process);
}

}  // namespace
}  // namespace assay::lab
