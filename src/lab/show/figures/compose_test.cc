// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/figures/compose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "lab/show/figures/gnuplot_script.h"
#include "lab/testing/figure_rows.h"

namespace assay::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Row row(const std::string& provider, int n, int round, double time) {
  Row r = example_row("product", {{"n", n}, {"dtype", "f32"}, {"seed", 0}}, provider, "plain",
                      round, time);
  r.suite = "demo";
  r.provenance.origin = "measured";
  r.provenance.time_end = "2026-01-01T12:00:00Z";
  return r;
}

// Two providers, two sizes, six rounds: times 1, 2, … 6 times a base.
std::vector<Row> two_providers() {
  std::vector<Row> rows;
  for (int round = 0; round < 6; ++round) {
    for (const int n : {64, 128}) {
      rows.push_back(row("plain", n, round, n * 1e-6 * (1 + round)));
      rows.push_back(row("quick", n, round, n * 0.5e-6 * (1 + round)));
    }
  }
  return rows;
}

const Figure& named(const std::vector<Figure>& figures, const std::string& name) {
  const auto found = std::ranges::find(figures, name, &Figure::name);
  if (found == figures.end()) throw InternalError("no figure " + name);
  return *found;
}

TEST(ComposeTest, StandardFiguresShowMediansWithExactIntervals) {
  const auto figures = compose_figures(two_providers(), {});
  const Figure& value = named(figures, "product-value");
  ASSERT_EQ(value.series.size(), 2U);
  EXPECT_EQ(value.series[0].label, "plain");
  EXPECT_EQ(value.series[0].origin, "measured");
  ASSERT_EQ(value.series[0].points.size(), 2U);
  const FigurePoint& p = value.series[0].points[0];
  EXPECT_EQ(p.x, 64);
  EXPECT_DOUBLE_EQ(p.y, 64e-6 * 3.5);
  EXPECT_DOUBLE_EQ(p.low.value(), 64e-6 * 1);  // six rounds: the interval is the whole range
  EXPECT_DOUBLE_EQ(p.high.value(), 64e-6 * 6);
  EXPECT_EQ(p.attempts, 6);
  EXPECT_EQ(value.y_label, "steady time [s]");
  EXPECT_EQ(value.newest, "2026-01-01T12:00:00Z");
}

// In every round the ratio is one half, though times differ by six; to the rounding of ln and exp.
TEST(ComposeTest, RatiosAreTakenWithinRounds) {
  const auto figures = compose_figures(two_providers(), {});
  const Figure& ratio = named(figures, "product-ratio");
  for (const auto& p : ratio.series[1].points) {
    EXPECT_NEAR(p.y, 0.5, 1e-15);
    EXPECT_NEAR(p.low.value(), 0.5, 1e-15);
  }
}

// The ratio of a figure is the ratio of the tables: exp of the median of ln, not a median of
// quotients, which for two rounds of 1 and 4 would be 2.5.
TEST(ComposeTest, RatiosAreThoseOfTheTables) {
  std::vector<Row> rows;
  for (const int n : {64, 128}) {
    for (int round = 0; round < 2; ++round) {
      rows.push_back(row("plain", n, round, 1.0));
      rows.push_back(row("quick", n, round, round == 0 ? 1.0 : 4.0));
    }
  }
  const auto figures = compose_figures(rows, {});
  EXPECT_NEAR(named(figures, "product-ratio").series[1].points[0].y, 2.0, 1e-15);
}

// A provider that was measured alone is its own baseline, which is no ratio of 1; and a run with
// another baseline is not mixed in.
TEST(ComposeTest, RatiosAreToOneBaselineThatOthersWereMeasuredBeside) {
  auto rows = two_providers();
  const auto in_run = [](Row r, const std::string& run, const std::string& baseline) {
    r.run_id = run;
    r.provenance.baseline = baseline;
    return r;
  };
  for (int round = 0; round < 2; ++round) {
    for (const int n : {64, 128}) {
      rows.push_back(in_run(row("alone", n, round, 1e-3), "second", "alone"));
      rows.push_back(in_run(row("quick", n, round, 1e-3), "third", "slow"));
      rows.push_back(in_run(row("slow", n, round, 1), "third", "slow"));
    }
  }
  const Figure ratio = named(compose_figures(rows, {}), "product-ratio");
  ASSERT_EQ(ratio.series.size(), 2U);
  EXPECT_EQ(ratio.series[0].label, "plain");
  EXPECT_EQ(ratio.series[1].label, "quick");
  for (const auto& p : ratio.series[1].points) EXPECT_NEAR(p.y, 0.5, 1e-15);
}

// A reader must see which GPU it was, and that it was one.
TEST(ComposeTest, TheSubtitleNamesTheGpu) {
  auto rows = two_providers();
  for (auto& r : rows) {
    r.platform = "cuda";
    auto& gpu = r.provenance.gpu.emplace();
    gpu.name = "NVIDIA H200";
    gpu.uuid = "GPU-a";
  }
  const auto subtitle = [&] { return named(compose_figures(rows, {}), "product-ratio").subtitle; };
  EXPECT_TRUE(subtitle().ends_with(" · NVIDIA H200")) << subtitle();
  rows.back().provenance.gpu->uuid = "GPU-b";
  EXPECT_TRUE(subtitle().ends_with(" · NVIDIA H200 (2 devices)")) << subtitle();
}

// One point: bars. A ratio's grow from 1, up or down, on an axis that has no zero.
TEST(ComposeTest, BarsOfRatiosGrowFromOne) {
  std::vector<Row> rows;
  for (int round = 0; round < 6; ++round) {
    rows.push_back(row("plain", 64, round, 1e-3));
    rows.push_back(row("quick", 64, round, 0.25e-3));
  }
  const auto figures = compose_figures(rows, {});
  const Figure& ratio = named(figures, "product-ratio");
  EXPECT_EQ(ratio.form, FigureForm::kBars);
  EXPECT_EQ(ratio.grow_from, 1);
  EXPECT_FALSE(named(figures, "product-value").grow_from);
}

// Rows that know their energy have one more figure, a page for each point, a dot for each attempt.
TEST(ComposeTest, EnergyStandsAgainstTime) {
  auto rows = two_providers();
  const auto without = compose_figures(rows, {});
  for (auto& r : rows) r.metrics["energy"] = 100 * r.metrics.at("steady_time");
  const auto figures = compose_figures(rows, {});
  const auto pages = figures.size() - without.size();
  EXPECT_GT(pages, 1u);
  for (const auto& figure : figures) {
    if (figure.name.find("-energy") == std::string::npos) continue;
    EXPECT_EQ(figure.form, FigureForm::kScatter);
    for (const auto& series : figure.series) {
      ASSERT_EQ(series.points.size(), 6u) << "one for each attempt";
      for (const auto& p : series.points) EXPECT_DOUBLE_EQ(p.y, 100 * p.x);
    }
  }
}

// A parameter that a point does without is another point.
TEST(ComposeTest, PointsThatDifferByWhatOneLeavesOutAreNotDrawnAsOne) {
  auto rows = two_providers();
  for (auto r : two_providers()) {
    r.point["inputs"] = "bf16";
    for (auto& [name, value] : r.metrics) value *= 2;
    rows.push_back(r);
  }
  const auto figures = compose_figures(rows, {});
  EXPECT_EQ(std::ranges::count_if(
                figures, [](const Figure& f) { return f.name.starts_with("product-value"); }),
            2);
  const Figure& wide = named(figures, "product-value");
  EXPECT_DOUBLE_EQ(wide.series[0].points[0].y, 64e-6 * 3.5);
  EXPECT_DOUBLE_EQ(named(figures, "product-value-bf16").series[0].points[0].y, 128e-6 * 3.5);
}

TEST(ComposeTest, TheOrderOfRowsDoesNotMatter) {
  auto rows = two_providers();
  const auto before = compose_figures(rows, {});
  std::mt19937 random(7);
  std::ranges::shuffle(rows, random);
  const auto after = compose_figures(rows, {});
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(figure_json(before[i]), figure_json(after[i]));
  }
}

TEST(ComposeTest, OnlyOkRowsAreDrawn) {
  auto rows = two_providers();
  for (auto& r : rows) {
    if (r.provider == "quick") r.status = Status::kWrongResult;
  }
  const auto figures = compose_figures(rows, {});
  EXPECT_EQ(named(figures, "product-value").series.size(), 1U);
}

TEST(ComposeTest, WhatWasWrongOnceWinsNothing) {
  auto rows = two_providers();
  rows[1].status = Status::kWrongResult;  // "quick" at 64, in one round of six
  ASSERT_EQ(rows[1].provider, "quick");
  const auto figures = compose_figures(rows, {});
  const Figure& value = named(figures, "product-value");
  ASSERT_EQ(value.series.size(), 2U);
  ASSERT_EQ(value.series[1].points.size(), 1U);
  EXPECT_EQ(value.series[1].points[0].x, 128);
}

TEST(ComposeTest, WorkOfAnyKindIsNoReasonToFail) {
  auto rows = two_providers();
  rows[0].work = {{"flops", NAN}};
  rows[1].work = {{"flops", INFINITY}, {"bytes", 0}};
  CaseDrawings cases;
  cases["product"].recipes = {
      {.name = "roof", .title = "t", .x = {"intensity"}},
      {.name = "bars", .title = "t", .form = FigureForm::kBars, .x = {"n"}}};
  EXPECT_FALSE(compose_figures(rows, cases).empty());
}

TEST(ComposeTest, AFormulaThatDoesNotDependOnTheSeriesIsOneLine) {
  std::vector<Row> rows;
  for (const int n : {64, 128}) {
    for (const char* provider : {"bound", "plain"}) {
      for (const char* way : {"a", "b"}) {
        auto r = row(provider, n, 0, std::string(provider) == "bound" ? 1.0 : 2.0);
        r.point["way"] = way;
        r.provenance.origin = std::string(provider) == "bound" ? "closed form" : "simulated";
        rows.push_back(r);
      }
    }
  }
  CaseDrawings cases;
  cases["product"].recipes = {
      {.name = "f", .title = "t", .x = {"n"}, .series = {"provider", "way"}}};
  const auto figures = compose_figures(rows, cases);
  ASSERT_EQ(figures.size(), 1U);
  std::vector<std::string> labels;
  for (const auto& s : figures[0].series) labels.push_back(s.label);
  EXPECT_THAT(labels, ElementsAre("plain, a", "plain, b", "bound"));
}

TEST(ComposeTest, MachinesAreNotMixed) {
  auto rows = two_providers();
  auto other = two_providers();
  for (auto& r : other) r.machine.fingerprint = "fedcba9876543210";
  rows.insert(rows.end(), other.begin(), other.end());
  int values = 0;
  for (const auto& f : compose_figures(rows, {})) {
    if (f.y_label != "steady time [s]") continue;
    ++values;
    EXPECT_EQ(f.series[0].points[0].attempts, 6);
  }
  EXPECT_EQ(values, 2);
}

TEST(ComposeTest, RowsOfAnotherIdentityAreRefused) {
  auto rows = two_providers();
  for (auto& r : rows) r.provenance.identity = "topology 1";
  CaseDrawings cases;
  cases["product"].identity = "topology 2";
  try {
    compose_figures(rows, cases);
    FAIL() << "drawn";
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("topology 1"));
    EXPECT_THAT(e.what(), HasSubstr("topology 2"));
  }
  cases["product"].identity = "topology 1";
  EXPECT_FALSE(compose_figures(rows, cases).empty());
  // A case that this program does not know: its rows must at least agree.
  EXPECT_FALSE(compose_figures(rows, {}).empty());
  rows.back().provenance.identity = "topology 3";
  EXPECT_THROW(compose_figures(rows, {}), UserError);
}

TEST(ComposeTest, PagesAndFiltersFollowTheRecipe) {
  auto rows = two_providers();
  CaseDrawings cases;
  cases["product"].recipes = {{.name = "by-size",
                               .title = "t",
                               .form = FigureForm::kBars,
                               .x = {"provider"},
                               .series = {"dtype"},
                               .pages = {"n"},
                               .only = {{"n", {64, 256}}}}};
  const auto figures = compose_figures(rows, cases);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].name, "product-by-size-n-64");
  EXPECT_THAT(figures[0].categories, ElementsAre("plain", "quick"));
}

TEST(ComposeTest, StackedLayersStandAtTheirCategories) {
  auto rows = two_providers();
  for (auto& r : rows) {
    r.metrics["cold_time"] = 3;
    r.metrics["compile_time"] = 2;
  }
  CaseDrawings cases;
  cases["product"].recipes = {{.name = "parts",
                               .title = "t",
                               .form = FigureForm::kStacked,
                               .x = {},
                               .parts = {{"cold_time", "first", "cold"},
                                         {"compile_time", "first", "compile"},
                                         {"cold_time", "second", "cold"}}}};
  const auto figures = compose_figures(rows, cases);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_THAT(figures[0].categories, ElementsAre("first", "second"));
  ASSERT_EQ(figures[0].series.size(), 2U);
  EXPECT_EQ(figures[0].series[0].points.size(), 2U);
  EXPECT_EQ(figures[0].series[1].points.size(), 1U);
}

TEST(ComposeTest, StackedLayersStandAtEachPairOfCategories) {
  auto rows = two_providers();
  for (auto& r : rows) {
    r.metrics["cold_time"] = 3;
    r.metrics["compile_time"] = 2;
  }
  CaseDrawings cases;
  cases["product"].recipes = {{.name = "parts",
                               .title = "t",
                               .form = FigureForm::kStacked,
                               .x = {"provider"},
                               .parts = {{"cold_time", "first", "cold"},
                                         {"compile_time", "first", "compile"},
                                         {"cold_time", "second", "cold"}}}};
  const auto figures = compose_figures(rows, cases);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_THAT(figures[0].categories,
              ElementsAre("plain: first", "plain: second", "quick: first", "quick: second"));
  ASSERT_EQ(figures[0].series.size(), 2U);
  EXPECT_EQ(figures[0].series[0].points.size(), 4U);
  EXPECT_EQ(figures[0].series[1].points.size(), 2U);
}

TEST(ComposeTest, RoofsAndIdentityAreTold) {
  auto rows = two_providers();
  for (auto& r : rows) r.provenance.identity = Json{{"topology", "abc"}, {"engine", "2"}};
  CaseDrawings cases;
  cases["product"].recipes = {{.name = "roof",
                               .title = "t",
                               .form = FigureForm::kScatter,
                               .x = {"n"},
                               .roofs = {{8e12, 2.5e11, "peak"}}}};
  const auto figures = compose_figures(rows, cases);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figure_json(figures[0])["roofs"][0]["slope"], 2.5e11);
  EXPECT_NE(figures[0].subtitle.find("engine 2, topology abc"), std::string::npos)
      << figures[0].subtitle;
  const auto script = gnuplot_script(figures[0], ImageFormat::kSvg, "x.svg");
  EXPECT_NE(script.find("250000000000*x < 8000000000000"), std::string::npos) << script;
}

TEST(ComposeTest, PartsStandSideBySideForEachSeries) {
  auto rows = two_providers();
  for (auto& r : rows) {
    r.metrics["cold_time"] = r.provider == "plain" ? 3 : 0;
    r.metrics["compile_time"] = 2;
  }
  CaseDrawings cases;
  cases["product"].recipes = {{.name = "parts",
                               .title = "t",
                               .form = FigureForm::kBars,
                               .x = {},
                               .parts = {{"compile_time", "compiling", "once"},
                                         {"cold_time", "all", "once"},
                                         {"steady_time", "all", "later"}},
                               .log_y = true}};
  const auto figures = compose_figures(rows, cases);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_THAT(figures[0].categories, ElementsAre("compiling", "all"));
  std::vector<std::pair<std::string, std::size_t>> series;
  for (const auto& s : figures[0].series) series.emplace_back(s.label, s.shade);
  EXPECT_THAT(series, ElementsAre(Pair("plain, once", 0), Pair("plain, later", 1),
                                  Pair("quick, once", 0), Pair("quick, later", 1)));
  EXPECT_EQ(figures[0].series[0].points.size(), 2U);
  EXPECT_EQ(figures[0].series[2].points.size(), 1U);  // 0 has no place on a logarithmic axis
}

TEST(ComposeTest, BarsBeginAtZeroWhereAllCanBeSeen) {
  auto rows = two_providers();
  CaseDrawings cases;
  cases["product"].recipes = {
      {.name = "bars", .title = "t", .form = FigureForm::kBars, .x = {"provider"}, .log_y = true}};
  EXPECT_FALSE(compose_figures(rows, cases).at(0).log_y);
  for (auto& r : rows) {
    if (r.provider == "plain") r.metrics["steady_time"] *= 1000;
  }
  EXPECT_TRUE(compose_figures(rows, cases).at(0).log_y);
}

TEST(ComposeTest, AgainstPairsByPoint) {
  std::vector<Row> rows = {row("plain", 64, 0, 2.0), row("quick", 64, 0, 2.5),
                           row("plain", 128, 0, 4.0)};
  for (auto& r : rows) r.provenance.origin = "simulated";
  CaseDrawings cases;
  cases["product"].recipes = {{.name = "against",
                               .title = "t",
                               .form = FigureForm::kAgainst,
                               .x = {},
                               .reference = "plain"}};
  const auto figures = compose_figures(rows, cases);
  ASSERT_EQ(figures.size(), 1U);
  ASSERT_EQ(figures[0].series.size(), 1U);
  ASSERT_EQ(figures[0].series[0].points.size(), 1U);  // 128 has no partner
  EXPECT_EQ(figures[0].series[0].points[0].x, 2.0);
  EXPECT_EQ(figures[0].series[0].points[0].y, 2.5);
  EXPECT_EQ(figures[0].series[0].origin, "simulated");
}

TEST(ComposeTest, HostileNamesBecomeHarmlessFileNames) {
  auto rows = two_providers();
  for (auto& r : rows) r.case_name = "../../etc/<script>\n\"x";
  for (const auto& f : compose_figures(rows, {})) {
    EXPECT_EQ(f.name.find_first_of("/<>\"\n"), std::string::npos) << f.name;
  }
}

}  // namespace
}  // namespace assay::lab
