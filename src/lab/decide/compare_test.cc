// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "lab/testing/decision_rows.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kOtherRun = "20260102T000000.000000Z-bbbbbbb";

std::vector<Comparison> compare(const std::vector<Row>& a, const std::vector<Row>& b,
                                MatchOptions options = {}) {
  return compare_matches(match_rows(a, b, options));
}

TEST(Compare, ProvidersOfOneRunPair) {
  const auto a = make_rounds(10, {.provider = "naive", .time = 2e-3});
  const auto b = make_rounds(10, {.provider = "simd", .time = 1e-3});
  const auto c = compare(a, b, {.by_provider = true});
  ASSERT_EQ(c.size(), 1u);
  EXPECT_EQ(c[0].pairing, Pairing::kPaired);
  EXPECT_EQ(c[0].rounds, 10);
  // Scatter is ± 0.5 % a side.
  EXPECT_NEAR(c[0].ratio, 0.5, 0.01);
  EXPECT_TRUE(c[0].differs());
  EXPECT_EQ(c[0].verdict("naive", "simd"), "simd is faster");
}

TEST(Compare, RunsDoNotPairAndSaySo) {
  const auto a = make_rounds(10, {});
  const auto b = make_rounds(10, {.run_id = kOtherRun});
  const auto c = compare(a, b);
  ASSERT_EQ(c.size(), 1u);
  EXPECT_EQ(c[0].pairing, Pairing::kUnpaired);
  EXPECT_FALSE(c[0].differs());
  EXPECT_GT(c[0].detectable, 0);
  EXPECT_LT(c[0].detectable, 0.05);
  EXPECT_EQ(c[0].verdict("a", "b"), "no difference shown");
  const auto table = comparisons_table(c, "a", "b", {}, {});
  EXPECT_THAT(table, HasSubstr("10 unpaired"));
  EXPECT_THAT(table, HasSubstr("≥ "));
  EXPECT_THAT(table, HasSubstr("share no rounds"));
}

// A whole run can be shifted by what the machine was like: its attempts all say so, and are all
// wrong.
TEST(Compare, RunsMadeApartMustDifferByMoreThanRunsDo) {
  const auto before = make_rounds(10, {.time = 1e-3});
  const auto shifted = make_rounds(10, {.time = 1.03e-3, .run_id = kOtherRun});
  const auto slower = make_rounds(10, {.time = 1.1e-3, .run_id = kOtherRun});
  const auto c = compare(before, shifted);
  EXPECT_FALSE(c[0].differs());
  EXPECT_EQ(c[0].verdict("a", "b"), "b is perhaps slower");
  EXPECT_THAT(comparisons_table(c, "a", "b", {}, {}),
              HasSubstr("1 of the perhaps: runs made apart"));
  EXPECT_TRUE(compare(before, slower)[0].differs());
  EXPECT_TRUE(compare_matches(match_rows(before, shifted, {}), {.between_runs = 0})[0].differs());
  // In the same rounds 3 % are 3 %.
  const auto beside = make_rounds(10, {.provider = "other", .time = 1.03e-3});
  EXPECT_TRUE(compare(before, beside, {.by_provider = true})[0].differs());
}

TEST(Compare, TwoBuildsMustDifferByMoreThanBuildsDo) {
  const auto old = make_rounds(10, {.time = 1e-3});
  const auto moved = make_rounds(10, {.provider = "other", .time = 1.03e-3});
  const auto slower = make_rounds(10, {.provider = "other", .time = 1.1e-3});
  const CompareSettings settings{.between_builds = 0.05};
  const auto of = [&](const auto& now, const CompareSettings& by) {
    return compare_matches(match_rows(old, now, {.by_provider = true}), by);
  };
  EXPECT_TRUE(of(moved, {})[0].differs());
  EXPECT_FALSE(of(moved, settings)[0].differs());
  EXPECT_THAT(comparisons_table(of(moved, settings), "a", "b", settings, {}),
              HasSubstr("1 of the perhaps: two builds differ by up to 5 %"));
  EXPECT_TRUE(of(slower, settings)[0].differs());
}

TEST(Compare, RowsOfToolsThatDoNotInterleaveDoNotPair) {
  auto a = make_rounds(10, {.provider = "naive"}), b = make_rounds(10, {.provider = "simd"});
  for (auto& row : a) row.provenance.interleaved = false;
  for (auto& row : b) row.provenance.interleaved = false;
  EXPECT_EQ(compare(a, b, {.by_provider = true})[0].pairing, Pairing::kUnpaired);
}

TEST(Compare, NothingIsComparedAcrossMachinesCoresPlatformsOrIsolation) {
  const auto a = make_rounds(6, {});
  for (const RowSpec& other :
       {RowSpec{.fingerprint = "feedfeedfeedfeed"}, RowSpec{.cores = 1},
        RowSpec{.isolation = "in-process"}, RowSpec{.platform = "cuda"}, RowSpec{.n = 65}}) {
    const auto c = compare(a, make_rounds(6, other));
    ASSERT_EQ(c.size(), 2u);
    for (const auto& one : c) EXPECT_FALSE(one.compared);
    EXPECT_THAT(c[0].verdict("A", "B"), HasSubstr("only in"));
  }
}

TEST(Compare, TooFewRoundsHaveNoIntervalAndNoVerdict) {
  const auto a = make_rounds(5, {.provider = "naive", .time = 2e-3});
  const auto b = make_rounds(5, {.provider = "simd"});
  const auto c = compare(a, b, {.by_provider = true});
  EXPECT_FALSE(c[0].interval);
  EXPECT_EQ(c[0].verdict("naive", "simd"), "too few to say");
  const auto one = compare(make_rounds(1, {}), make_rounds(1, {.run_id = kOtherRun}));
  EXPECT_EQ(one[0].verdict("a", "b"), "too few to say");
}

TEST(Compare, AWrongResultEarnsNoRatio) {
  const auto a = make_rounds(10, {.provider = "naive"});
  auto b = make_rounds(10, {.provider = "simd", .time = 1e-4});
  b[3] = make_row({.provider = "simd", .round = 3, .status = Status::kWrongResult});
  const auto c = compare(a, b, {.by_provider = true});
  EXPECT_FALSE(c[0].compared);
  EXPECT_THAT(c[0].verdict("naive", "simd"), HasSubstr("simd: wrong_result"));
  EXPECT_TRUE(comparisons_json(c, "a", "b", {})["comparisons"][0]["ratio"].is_null());
}

TEST(Compare, MoreIsBetterTurnsTheWordNotTheRatio) {
  const auto a = make_rounds(10, {.provider = "naive", .time = 2e-3});
  const auto b = make_rounds(10, {.provider = "simd", .time = 1e-3});
  const auto c = compare(a, b, {.by_provider = true, .metric = "throughput"});
  EXPECT_NEAR(c[0].ratio, 2, 0.04);
  EXPECT_LT(c[0].interval->low, c[0].ratio);
  EXPECT_GT(c[0].interval->high, c[0].ratio);
  EXPECT_EQ(c[0].verdict("naive", "simd"), "simd is larger");
  EXPECT_THROW(compare(a, b, {.metric = "speed"}), UserError);
}

// One real difference of two per cent among many rows of pure noise is found, and it alone.
TEST(Compare, FindsOneDifferenceAmongManyRows) {
  std::vector<Row> a, b;
  for (int n = 1; n <= 20; ++n) {
    for (int round = 0; round < 12; ++round) {
      const double drift = 1 + 0.02 * std::sin(round + n);
      const double noise = 1 + 0.004 * std::sin(17.0 * round + 5.0 * n);
      a.push_back(make_row({.provider = "naive", .time = drift, .round = round, .n = n}));
      const double effect = n == 7 ? 1.02 : 1.0;
      b.push_back(
          make_row({.provider = "simd", .time = drift * noise * effect, .round = round, .n = n}));
    }
  }
  int differ = 0;
  for (const auto& c : compare(a, b, {.by_provider = true})) {
    differ += c.differs();
    EXPECT_EQ(c.differs(), c.match.key.point["n"] == 7);
  }
  EXPECT_EQ(differ, 1);
}

// Six rounds have 64 patterns of signs; a row ten times slower is found among any number of rows.
TEST(Compare, ManyRowsHideNothing) {
  for (const int rows : {2, 24, 100}) {
    std::vector<Row> a, b;
    for (int n = 1; n <= rows; ++n) {
      for (auto& row : make_rounds(6, {.provider = "naive", .n = n})) a.push_back(row);
      for (auto& row : make_rounds(6, {.provider = "simd", .time = n == 1 ? 1e-2 : 1e-3, .n = n})) {
        b.push_back(row);
      }
    }
    for (const auto& c : compare(a, b, {.by_provider = true})) {
      if (c.match.key.point["n"] == 1) {
        EXPECT_EQ(c.verdict("naive", "simd"), "simd is slower") << rows;
      }
      // No verdict contradicts the interval beside it.
      const bool holds_one = c.interval->low <= 1 && c.interval->high >= 1;
      EXPECT_EQ(c.verdict("naive", "simd") == "no difference shown", holds_one);
    }
  }
}

TEST(Compare, TextOfRowsCannotDisturb) {
  for (const auto& name : hostile_names()) {
    auto a = make_rounds(6, {.provider = "p", .case_name = name});
    auto b = make_rounds(6, {.provider = "q", .case_name = name});
    const auto c = compare(a, b);
    for (const int width : {0, 40, 80, 200}) {
      const auto table = comparisons_table(c, name, name, {}, {.width = width});
      EXPECT_THAT(table, Not(HasSubstr("\x1b")));
      EXPECT_THAT(table, Not(HasSubstr("\xE2\x80\xAE")));
    }
    EXPECT_NO_THROW(parse_json(canonical_json(comparisons_json(c, name, name, {})), "test"));
  }
}

TEST(Compare, NamesAreCutForTablesAlone) {
  const std::string name(100, 'p');
  const auto c = compare(make_rounds(6, {}), make_rounds(6, {.cores = 1}));
  const auto json = comparisons_json(c, name, name, {});
  EXPECT_EQ(json["a"], name);
  EXPECT_EQ(json["comparisons"][0]["verdict"], "only in " + name);
  EXPECT_THAT(comparisons_table(c, name, name, {}, {}), Not(HasSubstr(name)));
}

TEST(Compare, OfNothing) {
  EXPECT_TRUE(compare({}, {}).empty());
  EXPECT_EQ(comparisons_table({}, "a", "b", {}, {}), "no rows\n");
}

}  // namespace
}  // namespace assay::lab
