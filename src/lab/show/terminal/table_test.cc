// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/terminal/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>

#include "base/text.h"
#include "lab/beside/caveats.h"
#include "lab/show/terminal/cells.h"
#include "lab/testing/example_rows.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::HasSubstr;
using testing::Not;

TEST(Table, Golden) {
  const auto rows = example_history();
  expect_golden(ASSAY_TESTDATA, "table.txt",
                terminal_table(summarise(rows), {}, environment_caveats(rows)));
}

TEST(Table, GoldenForEightyColumns) {
  expect_golden(ASSAY_TESTDATA, "table_80.txt",
                terminal_table(summarise(example_history()), {.width = 80}));
}

TEST(Table, FitsEveryTerminal) {
  auto rows = example_history();
  rows.push_back(example_row({.provider = std::string(10'000, 'x')}));
  rows.push_back(example_row({.provider = "数学数学数学数学数学"}));
  const auto summaries = summarise(rows);
  for (int width = 8; width <= 200; width += 3) {
    const auto table = terminal_table(summaries, {.width = width});
    for (const auto& line : lines_of(table)) {
      ASSERT_LE(display_width(line), width) << line;
    }
    EXPECT_THAT(table, HasSubstr("simd"));
  }
}

TEST(Table, ColumnsLineUp) {
  auto rows = example_rounds(6, 0.5);
  rows.push_back(example_row({.provider = "数学"}));
  const auto lines = lines_of(terminal_table(summarise(rows), {}));
  const auto column = [](const std::string& line, const char* text) {
    return display_width(line.substr(0, line.find(text)));
  };
  EXPECT_EQ(column(lines.at(0), "verdict"), column(lines.at(2), "ok"));
  EXPECT_EQ(column(lines.at(0), "verdict"), column(lines.at(3), "faster"));
  EXPECT_EQ(column(lines.at(0), "verdict"), column(lines.at(4), "ok"));
}

TEST(Table, OnlyTheCallerBringsColour) {
  auto rows = example_rounds(6, 0.5);
  rows.push_back(example_row({.provider = "\x1b[31mred\nnext"}));
  const auto summaries = summarise(rows);
  const auto plain = terminal_table(summaries, {});
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_THAT(plain, HasSubstr("\\x1b[31mred\\nnext"));
  const auto coloured = terminal_table(summaries, {.colour = true});
  EXPECT_THAT(coloured, HasSubstr("\x1b[32mfaster\x1b[0m"));
  EXPECT_THAT(coloured, Not(HasSubstr("\x1b[31mred")));
}

TEST(Table, NoColorIsHonoured) {
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(wants_colour(true));
  EXPECT_FALSE(wants_colour(false));
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(wants_colour(true));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(wants_colour(true));
  ::unsetenv("NO_COLOR");
}

TEST(Table, WorstFirstOnRequest) {
  auto rows = example_rounds(6, 1.5);
  rows.push_back(example_row({.provider = "bad", .status = Status::kFailed}));
  const auto table = terminal_table(summarise(rows), {.worst_first = true});
  EXPECT_LT(table.find("  bad"), table.find("  simd"));
  EXPECT_LT(table.find("  simd"), table.find("  naive"));
}

TEST(Table, NoRowsAreSaid) { EXPECT_EQ(terminal_table({}, {.width = 40}), "no rows\n"); }

TEST(Cells, RatiosKeepThreeDigits) {
  EXPECT_EQ(format_ratio(1.0434), "1.043");
  EXPECT_EQ(format_ratio(0.5), "0.500");
  EXPECT_EQ(format_ratio(12.345), "12.35");
  EXPECT_EQ(format_ratio(123.4), "123");
  EXPECT_EQ(format_ratio(0.0012345), "0.00123");
  EXPECT_EQ(format_ratio(9.99951), "10.00");
  EXPECT_EQ(format_ratio(INFINITY), "inf");
}

TEST(Cells, RatioWithItsInterval) {
  Summary s;
  EXPECT_EQ(ratio_cell(s), "–");
  s.ratio = PairedRatio{10, 1.0434, Interval{1.031, 1.055, 0.97}};
  EXPECT_EQ(ratio_cell(s), "1.043 [1.031, 1.055]");
  s.shown = Shown::kPerhaps;
  EXPECT_EQ(verdict_cell(s), "perhaps slower");
  s.shown = Shown::kAbove;
  EXPECT_EQ(verdict_cell(s), "slower");
  s.unequal_work = "half of it";
  EXPECT_EQ(verdict_cell(s), "slower (unequal work)");
  s.unjudged = true;
  EXPECT_EQ(verdict_cell(s), "slower (no oracle) (unequal work)");
  s.unequal_work = "";
  EXPECT_EQ(verdict_cell(s), "slower (no oracle)");
  s.unjudged = false;
  s.metric = "throughput";
  EXPECT_EQ(verdict_cell(s), "faster");
  s.shown = Shown::kNothing;
  EXPECT_EQ(verdict_cell(s), "ok");
  s.unjudged = true;
  EXPECT_EQ(verdict_cell(s), "no oracle");
}

TEST(Cells, SparklineShowsAttemptsInOrder) {
  using enum Status;
  const double nan = NAN;
  const Attempt none[] = {{kSkipped, nan}, {kEnvMissing, nan}, {kInterrupted, nan}};
  EXPECT_EQ(sparkline(none, 20), "––·");
  const Attempt all[] = {{kOk, 1}, {kCrashed, nan}, {kOk, 2}, {kExcluded, 9}, {kOk, 3}, {kOk, nan}};
  EXPECT_EQ(sparkline(all, 20), "▁×▅·█×");
  EXPECT_EQ(sparkline(all, 3), "…▅×");
  const Attempt steady[] = {{kOk, 1.000}, {kOk, 1.001}, {kOk, 0.999}};
  EXPECT_EQ(sparkline(steady, 20), "▅▅▄");  // a tenth of a percent is not drawn as a mountain
  EXPECT_EQ(sparkline({}, 20), "");
}

}  // namespace
}  // namespace assay::lab
