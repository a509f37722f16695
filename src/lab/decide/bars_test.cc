// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/bars.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "lab/testing/decision_rows.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

constexpr const char* kLaterRun = "20260102T000000.000000Z-bbbbbbb";

BarFile file_with(const std::string& bar, const std::string& table = {}) {
  return parse_bars(
      "title = \"T\"\n[[table]]\ntitle = \"Products\"\ncase = \"matmul\"\n"
      "provider = \"simd\"\n" +
          table + "\n[[table.bar]]\nwhat = \"it\"\n" + bar,
      "b.toml");
}

BarResult result_of(const std::string& bar, const std::vector<Row>& rows) {
  return hold_to_bars(file_with(bar), rows).sections.at(0).lines.at(0).results.at(0);
}

std::vector<Row> both(double naive, double simd, int rounds = 10) {
  auto rows = make_rounds(rounds, {.provider = "naive", .time = naive});
  for (auto& row : make_rounds(rounds, {.provider = "simd", .time = simd})) rows.push_back(row);
  return rows;
}

TEST(Bars, ARatioOfTheSameRounds) {
  const auto rows = both(2e-3, 1e-3);
  const auto met = result_of("over = {provider = \"naive\"}\nat_most = 0.6", rows);
  EXPECT_EQ(met.verdict, BarVerdict::kMet);
  ASSERT_EQ(met.figures.size(), 1u);
  EXPECT_NEAR(met.figures[0].value, 0.5, 0.01);
  EXPECT_TRUE(met.figures[0].paired);
  EXPECT_EQ(met.figures[0].rounds, 10);
  EXPECT_EQ(result_of("over = {provider = \"naive\"}\nat_most = 0.4", rows).verdict,
            BarVerdict::kMissed);
  EXPECT_EQ(result_of("over = {provider = \"naive\"}\nat_least = 0.5", rows).verdict,
            BarVerdict::kOpen);
  EXPECT_EQ(result_of("over = {provider = \"blis\"}\nat_least = 0.5", rows).verdict,
            BarVerdict::kNotMeasured);
}

TEST(Bars, AFigureADifferenceAndAFactor) {
  const auto rows = both(2e-3, 1e-3);
  const auto plain = result_of("at_most = 1.1e-3", rows);
  EXPECT_EQ(plain.verdict, BarVerdict::kMet);
  EXPECT_NEAR(plain.figures[0].value, 1e-3, 1e-5);
  const auto above = result_of("minus = {provider = \"naive\"}\nat_most = 0", rows);
  EXPECT_EQ(above.verdict, BarVerdict::kMet);
  EXPECT_NEAR(above.figures[0].value, -1e-3, 2e-5);
  const auto scaled =
      result_of("over = {provider = \"naive\"}\nfactor = 10\nat_least = 4.9\nat_most = 5.1", rows);
  EXPECT_EQ(scaled.verdict, BarVerdict::kMet);
  EXPECT_NEAR(scaled.figures[0].interval->low, 5, 0.1);
}

TEST(Bars, FewRoundsDecideNothing) {
  const auto result =
      result_of("over = {provider = \"naive\"}\nat_most = 0.9", both(2e-3, 1e-3, 3));
  EXPECT_EQ(result.verdict, BarVerdict::kOpen);
  EXPECT_FALSE(result.figures[0].interval);
}

TEST(Bars, TwoRunsShareNoRoundsAndSaySo) {
  auto rows = make_rounds(10, {.provider = "naive", .time = 2e-3});
  for (auto& row : make_rounds(10, {.provider = "simd", .time = 1e-3, .run_id = kLaterRun})) {
    rows.push_back(row);
  }
  const auto file = file_with("over = {provider = \"naive\"}\nat_most = 0.6");
  const auto outcome = hold_to_bars(file, rows);
  EXPECT_EQ(outcome.sections[0].lines[0].results[0].verdict, BarVerdict::kMet);
  EXPECT_THAT(bars_markdown(outcome), HasSubstr("(unpaired)"));
  const auto difference = result_of("minus = {provider = \"naive\"}\nat_most = 1", rows);
  EXPECT_NEAR(difference.figures.at(0).value, -1e-3, 2e-5);
  EXPECT_EQ(difference.verdict, BarVerdict::kOpen);  // no interval of a difference of two runs
}

TEST(Bars, WhatIsWrongMeetsNothing) {
  auto rows = both(2e-3, 1e-3);
  rows.back().status = Status::kWrongResult;
  EXPECT_EQ(result_of("at_most = 1", rows).verdict, BarVerdict::kWrong);
  EXPECT_EQ(result_of("points = \"mean\"\nat_most = 1", rows).verdict, BarVerdict::kWrong);
  EXPECT_EQ(result_of("points = \"each\"\nshare = 0.5\nat_most = 1", rows).verdict,
            BarVerdict::kWrong);
}

TEST(Bars, WhatCrashedSomewhereIsNotMetThere) {
  auto rows = both(2e-3, 1e-3);
  for (auto& row : make_rounds(6, {.provider = "simd", .status = Status::kCrashed, .n = 128})) {
    rows.push_back(row);
  }
  for (const char* points : {"each", "mean", "total"}) {
    EXPECT_EQ(result_of(std::string("at_most = 1\npoints = \"") + points + "\"", rows).verdict,
              BarVerdict::kWrong)
        << points;
  }
}

TEST(Bars, PlacesAreNeverMixed) {
  for (const auto& other :
       {RowSpec{.time = 1e-5, .cores = 8}, RowSpec{.time = 1e-5, .isolation = "in-process"},
        RowSpec{.time = 1e-5, .platform = "cuda"}}) {
    auto rows = make_rounds(10, {});
    for (auto& row : make_rounds(10, other)) rows.push_back(row);
    EXPECT_THAT([&] { result_of("at_most = 5e-4", rows); },
                ThrowsMessage<UserError>(HasSubstr("about one place")));
  }
}

TEST(Bars, SeveralPoints) {
  auto rows = both(2e-3, 1e-3);
  for (const auto& [n, time] : {std::pair{128, 1e-3}, {256, 4e-3}}) {
    for (auto& row : make_rounds(10, {.provider = "naive", .time = 2e-3, .n = n})) {
      rows.push_back(row);
    }
    for (auto& row : make_rounds(10, {.provider = "simd", .time = time, .n = n})) {
      rows.push_back(row);
    }
  }
  const std::string over = "over = {provider = \"naive\"}\nat_most = 0.6\n";
  EXPECT_THAT([&] { result_of(over, rows); },
              ThrowsMessage<UserError>(HasSubstr("'it' is about one place")));
  EXPECT_EQ(result_of(over + "point = '{\"n\":128}'", rows).verdict, BarVerdict::kMet);
  EXPECT_EQ(result_of(over + "points = \"each\"", rows).verdict, BarVerdict::kMissed);
  EXPECT_EQ(result_of(over + "points = \"each\"\nshare = 0.6", rows).verdict, BarVerdict::kMet);
  const auto mean = result_of(over + "points = \"mean\"", rows);
  EXPECT_NEAR(mean.figures.at(0).value, 0.794, 0.02);  // the cube root of 0.5 · 0.5 · 2
  EXPECT_EQ(mean.verdict, BarVerdict::kMissed);
  const auto total = result_of("points = \"total\"\nat_most = 0.007", rows);
  EXPECT_NEAR(total.figures.at(0).value, 6e-3, 1e-4);
  // The same case at another point, and a value that must not be there.
  const auto beside =
      result_of("point = '{\"n\":256}'\nover = {point = '{\"n\":128}'}\nat_least = 3", rows);
  EXPECT_NEAR(beside.figures.at(0).value, 4, 0.1);
  EXPECT_FALSE(beside.figures[0].paired);  // two places of one run: one after the other
  EXPECT_EQ(result_of("point = '{\"n\":null}'\nat_most = 1", rows).verdict,
            BarVerdict::kNotMeasured);
  const auto page = bars_markdown(hold_to_bars(file_with(over + "points = \"each\""), rows));
  EXPECT_THAT(page, HasSubstr("2 of 3 met, 1 missed"));
  EXPECT_THAT(page, HasSubstr("n=256"));
}

// What was not measured keeps no bar, whatever was.
TEST(Bars, PointsThatAreMissingLeaveItOpen) {
  auto rows = both(2e-3, 1e-3);
  const std::string each = "over = {provider = \"naive\"}\nat_most = 1\npoints = \"each\"";
  EXPECT_EQ(result_of(each, rows).verdict, BarVerdict::kMet);
  EXPECT_EQ(result_of(each + "\nexpected = 2", rows).verdict, BarVerdict::kOpen);
  for (auto& row : make_rounds(10, {.provider = "naive", .n = 128})) rows.push_back(row);
  for (const auto status : {Status::kExcluded, Status::kSkipped}) {
    auto more = rows;
    for (auto& row : make_rounds(10, {.provider = "simd", .status = status, .n = 128})) {
      more.push_back(row);
    }
    for (const char* points : {"each", "mean"}) {
      const auto result = result_of(
          std::string("over = {provider = \"naive\"}\nat_most = 1\npoints = \"") + points + "\"",
          more);
      EXPECT_EQ(result.verdict, BarVerdict::kOpen) << points;
      EXPECT_EQ(result.unmeasured, 1);
    }
    EXPECT_THAT(bars_markdown(hold_to_bars(file_with(each), more)),
                HasSubstr("1 point not measured"));
    // Unless the plan itself left it out.
    for (auto& row : more) {
      if (row.status == Status::kSkipped) row.failure->code = "provider_not_applicable";
    }
    EXPECT_EQ(result_of(each, more).verdict,
              status == Status::kSkipped ? BarVerdict::kMet : BarVerdict::kOpen);
  }
}

TEST(Bars, RowsOfOtherToolsHaveFiguresToo) {
  auto rows = both(2e-3, 1e-3);
  for (auto& row : rows) row.provenance.interleaved = false;
  EXPECT_EQ(result_of("at_most = 2e-3", rows).verdict, BarVerdict::kMet);
  const auto ratio = result_of("over = {provider = \"naive\"}\nat_most = 1", rows);
  EXPECT_EQ(ratio.verdict, BarVerdict::kMet);
  EXPECT_FALSE(ratio.figures.at(0).paired);
}

TEST(Bars, PlacesPairByRun) {
  std::vector<Row> rows;
  for (int pass = 0; pass < 8; ++pass) {
    const auto run = "2026010" + std::to_string(pass) + "T000000.000000Z-aaaaaaa";
    const double drift = 1 + 0.5 * pass;  // of the machine: both sides of a run have it
    rows.push_back(make_row({.provider = "simd", .time = 3e-3 * drift, .run_id = run, .n = 128}));
    rows.push_back(make_row({.provider = "simd", .time = 1e-3 * drift, .run_id = run, .n = 64}));
  }
  const auto result =
      result_of("point = '{\"n\":128}'\nover = {point = '{\"n\":64}'}\nat_least = 2.9", rows);
  EXPECT_EQ(result.verdict, BarVerdict::kMet);
  EXPECT_TRUE(result.figures.at(0).paired);
  EXPECT_EQ(result.figures[0].rounds, 8);
}

TEST(Bars, APageHasMissesInOneList) {
  const auto rows = both(2e-3, 1e-3);
  auto file = file_with("over = {provider = \"naive\"}\nat_most = 0.4\nnote = \"why <b>\"");
  file.machines["0123456789abcdef"] = "Workhorse";
  const auto page = bars_markdown(hold_to_bars(file, rows));
  EXPECT_THAT(page, HasSubstr("| What | Bar | Workhorse |"));
  EXPECT_THAT(page, HasSubstr("**missed**"));
  EXPECT_THAT(page.substr(page.find("## Missed")), HasSubstr("- Products, it, Workhorse"));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  const auto json = bars_json(hold_to_bars(file, rows));
  EXPECT_EQ(json["bars"][0]["verdict"], "missed");
  EXPECT_THAT(bars_table(hold_to_bars(file, rows), {}), HasSubstr("1 missed"));
}

TEST(Bars, EqualityIsMet) {
  // Ratios pass through logarithms, which must not turn 3 into a little more.
  std::vector<Row> rows;
  for (int round = 0; round < 10; ++round) {
    rows.push_back(make_row({.provider = "naive", .time = 7e-4, .round = round}));
    rows.push_back(make_row({.provider = "simd", .time = 3 * 7e-4, .round = round}));
  }
  const auto result = result_of("over = {provider = \"naive\"}\nat_most = 3\nat_least = 3", rows);
  EXPECT_EQ(result.verdict, BarVerdict::kMet);
}

TEST(Bars, WhatARunHasOneOfCountsOnceForARun) {
  std::vector<Row> rows;
  for (int run = 0; run < 6; ++run) {
    for (int round = 0; round < 3; ++round) {
      rows.push_back(make_row({.provider = "simd",
                               .round = round,
                               .run_id = fmt::format("2026010{}T000000.000000Z-aaaaaaa", run)}));
      rows.back().metrics["harness_overhead"] = 1e-3 * (1 + run);
    }
  }
  const std::string bar = "metric = \"harness_overhead\"\nat_most = 0.01";
  const auto all = result_of(bar, rows).figures.at(0);
  EXPECT_EQ(all.rounds, 6);
  EXPECT_EQ(all.verdict, BarVerdict::kMet);
  rows.resize(9);  // three runs of three rounds each: too few for an interval
  EXPECT_EQ(result_of(bar, rows).verdict, BarVerdict::kOpen);
}

TEST(Bars, WhatAReaderMustKnowStandsBesideTheFigure) {
  auto rows = both(2e-3, 1e-3);
  for (auto& row : rows) {
    row.fidelity->status = Fidelity::kNoOracle;
    row.provenance.dirty = true;
  }
  const auto page =
      bars_markdown(hold_to_bars(file_with("over = {provider = \"naive\"}\nat_most = 1"), rows));
  EXPECT_THAT(page, HasSubstr("(no oracle)"));
  EXPECT_THAT(page.substr(page.find("## Measured")), HasSubstr("+ changes"));
}

TEST(Bars, TheWorstDifferenceIsFarthestFromItsBar) {
  std::vector<Row> rows;
  for (const auto& [n, time] : {std::pair{64, 1e-3}, {128, 5e-3}, {256, 3e-3}}) {
    for (auto& row : make_rounds(10, {.provider = "naive", .time = 6e-3, .n = n})) {
      rows.push_back(row);
    }
    for (auto& row : make_rounds(10, {.provider = "simd", .time = time, .n = n})) {
      rows.push_back(row);
    }
  }
  const auto page = bars_markdown(hold_to_bars(
      file_with("minus = {provider = \"naive\"}\nat_most = -0.0055\npoints = \"each\""), rows));
  EXPECT_THAT(page, HasSubstr("at dtype=f32 n=128"));  // −1 ms, where −5.5 ms were wanted
}

TEST(Bars, NumbersOfCoresAreBarsOfTheirOwn) {
  const auto file = file_with("cores = [1, 4]\nat_most = 1");
  ASSERT_EQ(file.tables[0].bars.size(), 2u);
  EXPECT_EQ(file.tables[0].bars[1].what, "it, 4 cores");
  EXPECT_EQ(file.tables[0].bars[1].side.cores, 4);
}

TEST(Bars, MistakesAreNamed) {
  const auto mistake = [](const std::string& bar, const std::string& table, const char* text) {
    EXPECT_THAT([&] { file_with(bar, table); }, ThrowsMessage<UserError>(HasSubstr(text)));
  };
  mistake("", "", "at_least: neither it nor at_most");
  mistake("at_most = 1\nmetrics = \"flop_rate\"", "",
          "b.toml:10: table[0].bar[0].metrics: unknown key");
  mistake("at_most = 1\nmetric = \"speed\"", "", "there is no metric 'speed'");
  mistake("at_most = 1\npoint = '[1]'", "", "expected a JSON object");
  mistake("at_most = 1\npoints = \"some\"", "", "expected one, each, mean, total, got 'some'");
  mistake("at_most = 1\npoints = \"some\"", "", "b.toml:10: table[0].bar[0].points");
  mistake("at_most = 1\npoint = '{'", "", "b.toml:10: table[0].bar[0].point");
  mistake("at_most = 1\nat_least = 2", "", "2 is above at_most = 1");
  mistake("at_most = 1\ncores = [1, 1]", "", "1 is there twice");
  mistake("at_most = 1\nover = {}", "", "nothing differs");
  mistake("at_most = 1\nshare = 0.5", "", "only with points");
  mistake("at_most = 1\nexpected = 5", "", "only with points");
  mistake("at_most = 1\npoints = \"total\"\nover = {provider = \"a\"}", "", "no sum");
  mistake("at_most = 1\nfactor = 0", "", "more than 0");
  mistake("at_most = 1\ncores = 1.5", "", "number of cores");
  mistake("at_most = 1\nover = {provider = \"a\"}\nminus = {provider = \"b\"}", "", "already");
  EXPECT_THAT([] { parse_bars("title = \"T\"", "b.toml"); },
              ThrowsMessage<UserError>(HasSubstr("table: there is none")));
}

}  // namespace
}  // namespace assay::lab
