// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/sample_rows.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::lab {
namespace {

TEST(SampleRows, TakesAllWhenAffordableAndAlwaysTheEdges) {
  EXPECT_EQ(sample_rows(10, 1, 10, 8, 0).rows.size(), 10u);
  EXPECT_FALSE(sample_rows(10, 1, 10, 8, 0).seed);
  const auto sample = sample_rows(1000, 1, 50, 8, 7);
  EXPECT_EQ(sample.rows.size(), 50u);
  EXPECT_EQ(sample.seed, 7);
  EXPECT_EQ(sample.rows.front(), 0);
  EXPECT_EQ(sample.rows.back(), 999);
  EXPECT_EQ(sample_rows(1000, 1, 50, 8, 7).rows, sample.rows);
  EXPECT_EQ(sample_rows(1000, 1e9, 1, 8, 7).rows.size(), 8u);
  EXPECT_EQ(sample_rows(1000, 1e9, 1, 2, 7).rows.size(), 2u);
  EXPECT_EQ(sample_rows(1, 1e9, 1, 2, 7).rows.size(), 1u);
  EXPECT_TRUE(sample_rows(0, 1, 1, 8, 0).rows.empty());
}

TEST(SampleRows, SeesEveryRowInTheEnd) {
  std::set<std::int64_t> seen;
  for (std::int64_t draw = 0; draw < 400; ++draw) {
    const auto sample = sample_rows(100, 1, 10, 8, draw);
    seen.insert(sample.rows.begin(), sample.rows.end());
  }
  EXPECT_EQ(seen.size(), 100u);
}

}  // namespace
}  // namespace assay::lab
