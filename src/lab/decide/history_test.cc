// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/testing/decision_rows.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::HasSubstr;
using testing::Not;

// A series of commits, one run each; from commit `slower_from` on, 10 % slower.
std::vector<Row> commits(int count, int slower_from, RowSpec spec = {}) {
  std::vector<Row> rows;
  const double time = spec.time;
  for (int i = 0; i < count; ++i) {
    spec.run_id = fmt::format("202601{:02}T000000.000000Z-c{:06}", i + 1, i);
    spec.commit = fmt::format("c{:06}ffff", i);
    // Days differ by up to 0.5 % as a whole.
    spec.time = time * (i >= slower_from ? 1.10 : 1.0) * (1 + 0.005 * std::sin(1.7 * i));
    append(rows, make_rounds(8, spec));
  }
  return rows;
}

TEST(History, OnePointForEachCommitAndAChangeWhereItChanged) {
  const auto series = history(commits(24, 14), {.case_name = "matmul"});
  ASSERT_EQ(series.size(), 1u);
  ASSERT_EQ(series[0].points.size(), 24u);
  EXPECT_EQ(series[0].points[3].label(), "c000003");
  EXPECT_EQ(series[0].points[3].attempts, 8);
  EXPECT_TRUE(series[0].points[3].interval);
  ASSERT_EQ(series[0].changes.size(), 1u);
  EXPECT_EQ(series[0].changes[0].before, 13u);
  EXPECT_EQ(series[0].changes[0].after, 14u);
  EXPECT_NEAR(series[0].changes[0].ratio, 1.10, 0.01);
  ASSERT_EQ(series[0].segments.size(), 2u);
  EXPECT_NEAR(series[0].segments[0].level, 1e-3, 1e-5);
  EXPECT_EQ(series[0].segments[1].first, 14u);
  EXPECT_EQ(series[0].segments[1].last, 23u);
  const auto table = history_table(series, {}, {});
  EXPECT_THAT(table, HasSubstr("slower since c000014"));
  const auto json = history_json(series, {});
  EXPECT_EQ(json["series"][0]["changes"][0]["to"], "c000014");
}

TEST(History, WithoutAChangeThereIsNone) {
  const auto series = history(commits(24, 100), {});
  EXPECT_TRUE(series[0].changes.empty());
  ASSERT_EQ(series[0].segments.size(), 1u);
  EXPECT_THAT(history_table(series, {}, {}), HasSubstr("no change shown"));
}

TEST(History, TooShortSaysSo) {
  const auto series = history(commits(9, 4), {});
  EXPECT_TRUE(series[0].changes.empty());
  EXPECT_THAT(history_table(series, {}, {}), HasSubstr("too short to say"));
  EXPECT_TRUE(history({}, {}).empty());
  EXPECT_EQ(history_table({}, {}, {}), "no rows\n");
}

TEST(History, RunsOfOneCommitArePooledAndDirtyTreesAreNot) {
  auto rows = make_rounds(6, {});
  append(rows, make_rounds(6, {.run_id = "20260105T000000.000000Z-aaaaaaa"}));
  auto dirty = make_rounds(6, {.run_id = "20260106T000000.000000Z-aaaaaaa"});
  for (auto& row : dirty) row.provenance.dirty = true;
  append(rows, dirty);
  auto unknown = make_rounds(6, {.run_id = "20260107T000000.000000Z-nogit", .commit = "unknown"});
  append(rows, unknown);
  const auto series = history(rows, {});
  ASSERT_EQ(series[0].points.size(), 3u);
  EXPECT_EQ(series[0].points[0].attempts, 12);
  EXPECT_EQ(series[0].points[0].runs.size(), 2u);
  EXPECT_EQ(series[0].points[1].label(), "aaaaaaa+");
  EXPECT_EQ(series[0].points[2].label(), "20260107T000000.000000Z-nogit");
}

TEST(History, MachinesAndPointsAreSeriesOfTheirOwn) {
  auto rows = commits(3, 9);
  append(rows, commits(3, 9, {.fingerprint = "feed"}));
  append(rows, commits(3, 9, {.n = 128}));
  append(rows, commits(3, 9, {.provider = "naive"}));
  append(rows, commits(3, 9, {.case_name = "other"}));
  EXPECT_EQ(history(rows, {.case_name = "matmul"}).size(), 4u);
  EXPECT_EQ(history(rows, {.case_name = "matmul", .provider = "naive"}).size(), 1u);
  EXPECT_EQ(history(rows, {.case_name = "matmul", .point = Json{{"n", 128}}}).size(), 1u);
  EXPECT_EQ(history(rows, {}).size(), 5u);
}

TEST(History, FailuresAreGapsThatShow) {
  auto rows = commits(24, 14);
  for (auto& row : rows) {
    if (row.provenance.commit != "c000005ffff") continue;
    row.status = Status::kWrongResult;
    row.failure = Failure{"judge", "value", "off", {}, {}, ""};
  }
  const auto series = history(rows, {});
  EXPECT_FALSE(series[0].points[5].median);
  EXPECT_EQ(series[0].points[5].status, Status::kWrongResult);
  ASSERT_EQ(series[0].changes.size(), 1u);
  EXPECT_EQ(series[0].changes[0].after, 14u);
  EXPECT_THAT(history_table(series, {}, {}), HasSubstr("×"));
  const auto only_failures = history(make_rounds(3, {.status = Status::kCrashed}), {});
  EXPECT_TRUE(only_failures[0].segments.empty());
  EXPECT_THAT(history_table(only_failures, {}, {}), HasSubstr("crashed"));
}

TEST(History, TheOrderOfRowsDoesNotMatter) {
  auto rows = commits(24, 14);
  const auto before = history_json(history(rows, {}), {});
  std::ranges::reverse(rows);
  EXPECT_EQ(history_json(history(rows, {}), {}), before);
}

TEST(History, TextOfRowsCannotDisturb) {
  for (const auto& name : hostile_names()) {
    const auto series = history(commits(12, 6, {.provider = name, .case_name = name}), {});
    for (const int width : {0, 60, 120}) {
      const auto table = history_table(series, {}, {.width = width});
      EXPECT_THAT(table, Not(HasSubstr("\x1b")));
      EXPECT_THAT(table, Not(HasSubstr("\xE2\x80\xAE")));
    }
    EXPECT_NO_THROW(parse_json(canonical_json(history_json(series, {})), "test"));
  }
}

}  // namespace
}  // namespace assay::lab
