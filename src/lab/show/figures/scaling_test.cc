// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Figures of lanes: speed-up, efficiency, and the table that sums them up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "lab/show/figures/compose.h"
#include "lab/show/figures/render.h"
#include "lab/testing/figure_rows.h"

namespace assay::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Row row(const std::string& provider, int cases, int round, double time, double lanes) {
  Row r = example_row("scan", {{"cases", cases}}, provider, "serial", round, time);
  r.metrics["lanes"] = lanes;
  r.metrics["case_rate"] = cases / time;
  return r;
}

// Serial takes 1 ms a case; threads half of that, and 6 ms to start: ahead from 16 cases on.
std::vector<Row> two_lanes() {
  std::vector<Row> rows;
  for (int round = 0; round < 6; ++round) {
    const double slow = 1 + 0.1 * round;  // a round is slower for both
    for (const int n : {8, 16, 32}) {
      rows.push_back(row("serial", n, round, slow * n * 1e-3, 1));
      rows.push_back(row("threads", n, round, slow * (n * 0.5e-3 + 6e-3), 2));
    }
  }
  return rows;
}

Figure drawn(FigureRecipe recipe) {
  recipe.name = "f";
  recipe.x = {"cases"};
  CaseDrawings cases;
  cases["scan"].recipes = {recipe};
  const auto figures = compose_figures(two_lanes(), cases);
  return figures.at(0);
}

TEST(Scaling, SpeedupIsTheInverseRatioBesideTheIdeal) {
  const auto f = drawn({.y = "speedup", .ideal = true});
  ASSERT_EQ(f.series.size(), 3U);
  EXPECT_EQ(f.series[1].label, "threads");
  EXPECT_NEAR(f.series[1].points[0].y, 0.8, 1e-12);  // 8 ms over 10 ms, in every round
  EXPECT_NEAR(f.series[1].points[2].low.value(), 32 / 22.0, 1e-12);
  EXPECT_EQ(f.series[2].label, "ideal");
  EXPECT_EQ(f.series[2].origin, "closed form");
  EXPECT_EQ(f.series[2].points[1].y, 2);
}

TEST(Scaling, EfficiencyIsThatOverTheLanes) {
  const auto f = drawn({.y = "efficiency", .marks = {{0.9, "90 %"}}});
  ASSERT_EQ(f.series.size(), 2U);
  EXPECT_NEAR(f.series[0].points[0].y, 1, 1e-12);
  EXPECT_NEAR(f.series[1].points[2].y, 16 / 22.0, 1e-12);
  EXPECT_EQ(figure_json(f)["marks"][0]["y"], 0.9);
  EXPECT_THAT(gnuplot_script(f, ImageFormat::kPng, "x"), HasSubstr("0.9 with lines"));
}

TEST(Scaling, RowsWithoutLanesHaveNoEfficiency) {
  auto rows = two_lanes();
  for (auto& r : rows) r.metrics.erase("lanes");
  CaseDrawings cases;
  cases["scan"].recipes = {{.name = "f", .x = {"cases"}, .y = "efficiency"}};
  EXPECT_TRUE(compose_figures(rows, cases).empty());
}

TEST(Scaling, TheTableHasALineForEachLaneAndSize) {
  const auto f = drawn(
      {.form = FigureForm::kTable,
       .columns = {"lanes", "case_rate", "speedup", "efficiency", "crossover", "peak_rss_steady"}});
  const auto table = figure_json(f)["table"];
  ASSERT_EQ(table["lines"].size(), 6U);
  const auto& line = table["lines"][4];
  EXPECT_EQ(line["provider"], "threads");
  EXPECT_EQ(line["cases"], 16);
  EXPECT_EQ(line["lanes"], 2);
  EXPECT_NEAR(line["speedup"].get<double>(), 16 / 14.0, 1e-12);
  EXPECT_EQ(line["crossover"], 16);
  EXPECT_TRUE(line["peak_rss_steady"].is_null());
  EXPECT_TRUE(table["lines"][0]["crossover"].is_null()) << "of the baseline itself";
  EXPECT_EQ(table["units"]["case_rate"], "1/s");
}

TEST(Scaling, ATableIsTextForPeopleAndNumbersForPrograms) {
  auto f =
      drawn({.title = "t", .form = FigureForm::kTable, .columns = {"steady_time", "efficiency"}});
  f.name = "table";
  const TemporaryDirectory folder;
  const auto files = render(f, {ImageFormat::kPng}, folder.path());
  EXPECT_THAT(files, ElementsAre(folder.path() + "/table.md", folder.path() + "/table.json"));
  const auto text = read_file(files[0]);
  EXPECT_THAT(text,
              HasSubstr("| provider | cases | steady time | efficiency |\n|---|---:|---:|---:|\n"));
  EXPECT_THAT(text, HasSubstr("| threads | 32 | 27.50 ms | 72.7 % |"));
}

}  // namespace
}  // namespace assay::lab
