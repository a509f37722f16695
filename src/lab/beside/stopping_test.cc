// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Row row_with(int n, int order, const Json& stopping) {
  Row row;
  row.run_id = "run";
  row.case_name = "toy";
  row.point = {{"n", n}};
  row.order = order;
  if (!stopping.is_null()) row.provenance = provenance_from_json(Json{{"stopping", stopping}});
  return row;
}

TEST(Stops, TheLastWordOfEachPoint) {
  const std::vector<Row> rows = {
      row_with(1, 9, {{"decision", "met"}, {"rounds", 14}, {"target", 0.01}, {"worst", 0.009}}),
      row_with(1, 5, {{"decision", "continue"}, {"rounds", 10}, {"target", 0.01}, {"worst", 0.02}}),
      row_with(1, 12, nullptr),
      row_with(2, 20, {{"decision", "budget"}, {"rounds", 11}, {"target", 0.01}, {"worst", 0.014}}),
      row_with(3, 30,
               {{"decision", "no_ratio"}, {"rounds", 10}, {"target", 0.01}, {"worst", nullptr}}),
      row_with(4, 40, {{"decision", 7}, {"rounds", "x"}}),  // another hand's row
      row_with(5, 50,
               {{"decision", "budget"}, {"rounds", 3}, {"target", nullptr}, {"worst", nullptr}}),
  };
  const auto stops = stops_of(rows);
  ASSERT_EQ(stops.size(), 5u);
  EXPECT_TRUE(stops[0].met());
  EXPECT_THAT(
      stopping_lines(stops),
      ElementsAre("precision ±1 %: reached at 1 of 5 points",
                  "toy n=2: ±1.4 % after 11 rounds, the budget was spent",
                  "toy n=3: no ratio after 10 rounds, nothing to compare with",
                  HasSubstr("toy n=4"), "toy n=5: ended after 3 rounds, the budget was spent"));
}

TEST(Stops, ABudgetThatWasMadeLargerEndedNothing) {
  const Json spent = {
      {"decision", "budget"}, {"rounds", 3}, {"target", nullptr}, {"worst", nullptr}};
  const std::vector<Row> rows = {row_with(1, 7, nullptr), row_with(1, 4, spent),
                                 row_with(2, 9, spent), row_with(2, 8, nullptr)};
  const auto stops = stops_of(rows);
  ASSERT_EQ(stops.size(), 1u);
  EXPECT_EQ(stops[0].point["n"], 2);
}

TEST(Stops, NothingAskedNothingSaid) {
  const std::vector<Row> rows = {row_with(1, 0, nullptr)};
  EXPECT_TRUE(stops_of(rows).empty());
  EXPECT_TRUE(stopping_lines({}).empty());
}

}  // namespace
}  // namespace assay::lab
