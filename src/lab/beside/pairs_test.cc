// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lab/testing/example_rows.h"

namespace assay::lab {
namespace {

using testing::ElementsAre;
using testing_rows::example_row;

RowPointers pointers(const std::vector<Row>& rows) {
  RowPointers list;
  for (const auto& row : rows) list.push_back(&row);
  return list;
}

TEST(Pairs, AreTheRoundsOfOneRunThatBothHave) {
  const std::vector<Row> a = {example_row({.time = 2, .round = 0}),
                              example_row({.time = 4, .round = 1}),
                              example_row({.time = 8, .round = 2, .run_id = "other"})};
  const std::vector<Row> b = {example_row({.time = 1, .round = 1}),
                              example_row({.time = 1, .round = 2})};
  const auto pairs = pair_rounds(values_by_round(pointers(a), "steady_time"),
                                 values_by_round(pointers(b), "steady_time"));
  EXPECT_THAT(pairs.a, ElementsAre(4));
  EXPECT_THAT(pairs.b, ElementsAre(1));
  EXPECT_THAT(pairs.log_ratios(), ElementsAre(std::log(4.0)));
}

TEST(Pairs, OnlyWhatIsOkAndWasMadeInTurnPairs) {
  std::vector<Row> rows = {example_row({.time = 1, .round = 0}),
                           example_row({.time = 2, .round = 1, .status = Status::kExcluded}),
                           example_row({.time = 3, .round = 2}),
                           example_row({.time = -1, .round = 3}),
                           example_row({.time = INFINITY, .round = 4})};
  rows[2].provenance.interleaved = false;
  const auto values = values_by_round(pointers(rows), "steady_time");
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values.begin()->second, 1);
}

Row on_gpu(Row row, const std::string& uuid) {
  row.platform = "cuda";
  row.provenance.device = uuid;
  row.provenance.gpu.emplace().uuid = uuid;
  return row;
}

TEST(Pairs, OfRoundsOnOneDeviceAlone) {
  std::vector<Row> fast, slow;
  for (int round = 0; round < 7; ++round) {
    const double at = round;  // of the other device both are slower
    fast.push_back(on_gpu(example_row({.time = 1 + at, .round = round}), round < 6 ? "A" : "B"));
    slow.push_back(on_gpu(example_row({.time = 2 + 2 * at, .round = round}), "A"));
  }
  const auto ratio = [&] {
    return pairs_beside(pointers(fast), pointers(slow), "steady_time").ratio();
  };
  ASSERT_TRUE(ratio() && ratio()->interval);
  EXPECT_EQ(ratio()->rounds, 6);

  // The run was continued on another machine of the kind, in the middle of a round.
  fast[5] = on_gpu(fast[5], "B");
  ASSERT_TRUE(ratio());
  EXPECT_EQ(ratio()->rounds, 5);
  EXPECT_FALSE(ratio()->interval);

  slow[5] = on_gpu(slow[5], "B");  // and its round with it
  EXPECT_EQ(ratio()->rounds, 6);
  EXPECT_TRUE(ratio()->interval);

  for (auto& row : fast) row = on_gpu(row, "C");
  EXPECT_FALSE(ratio());
}

TEST(Pairs, TheLastTryOfARoundCountsWhereverItWasMade) {
  const std::vector<Row> rows = {on_gpu(example_row({.time = 3, .round = 0}), "A"),
                                 on_gpu(example_row({.time = 4, .round = 0, .try_number = 1}), "B"),
                                 on_gpu(example_row({.time = 5, .round = 1}), "B")};
  const auto values = values_by_round(pointers(rows), "steady_time");
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values.begin()->first.device, "B");
  EXPECT_EQ(values.begin()->second, 4);
}

TEST(Pairs, TheProcessorIsNoDevice) {
  auto row = on_gpu(example_row({}), "A");
  EXPECT_EQ(round_of(row).device, "A");
  row.provenance.gpu.reset();
  EXPECT_EQ(round_of(row).device, "A");
  row.platform = "cpu";
  EXPECT_EQ(round_of(row).device, "");
}

TEST(Pairs, WhatWasWrongOnceWinsNothing) {
  std::vector<Row> fast, slow;
  for (int round = 0; round < 6; ++round) {
    fast.push_back(example_row({.time = 1, .round = round}));
    slow.push_back(example_row({.time = 2, .round = round}));
  }
  EXPECT_EQ(pairs_beside(pointers(fast), pointers(slow), "steady_time").ratio()->ratio, 0.5);
  fast[3].status = Status::kWrongResult;
  EXPECT_FALSE(pairs_beside(pointers(fast), pointers(slow), "steady_time").ratio());
  EXPECT_FALSE(pairs_beside(pointers(slow), pointers(fast), "steady_time").ratio());
}

}  // namespace
}  // namespace assay::lab
