// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/figures/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "lab/show/figures/gnuplot_script.h"

namespace assay::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Figure example(FigureForm form) {
  Figure f;
  f.name = "example";
  f.title = "A title with \"quotes\" and `date` and @x_{y}";
  f.subtitle = "n = 64 · \\ $(touch /tmp/never)";
  f.form = form;
  f.x_label = "n";
  f.y_label = "steady time [s]";
  if (form == FigureForm::kBars || form == FigureForm::kStacked) f.categories = {"a", "b\"'"};
  for (const std::string label : {"plain", "quick <script>"}) {
    FigureSeries s{.label = label, .origin = "measured", .points = {}};
    s.points.push_back(
        {.x = f.categories.empty() ? 64.0 : 0, .y = 1e-3, .low = 9e-4, .high = 2e-3});
    s.points.push_back({.x = f.categories.empty() ? 128.0 : 1, .y = 2e-3, .low = {}, .high = {}});
    f.series.push_back(s);
  }
  f.newest = "2026-01-01T12:00:00Z";
  return f;
}

// Every form in every format, twice: the same bytes, and no error from gnuplot.
TEST(RenderTest, TheSameFigureGivesTheSameBytes) {
  const TemporaryDirectory folder;
  for (const auto form :
       {FigureForm::kLines, FigureForm::kBars, FigureForm::kStacked, FigureForm::kAgainst}) {
    const auto f = example(form);
    std::vector<std::string> first;
    const std::vector formats = {ImageFormat::kPng, ImageFormat::kPdf, ImageFormat::kSvg};
    for (const auto& path : render(f, formats, folder.path())) {
      first.push_back(read_file(path));
      EXPECT_GT(first.back().size(), 500U) << path;
    }
    std::size_t i = 0;
    for (const auto& path : render(f, formats, folder.path())) {
      EXPECT_EQ(read_file(path), first[i++]) << path;
    }
  }
}

// Seconds pass between two drawings; a PDF tells the time of its rows.
TEST(RenderTest, APdfIsDatedByItsRows) {
  const TemporaryDirectory folder;
  render(example(FigureForm::kLines), {ImageFormat::kPdf}, folder.path());
  EXPECT_THAT(read_file(folder.path() + "/example.pdf"),
              HasSubstr("/CreationDate (D:20260101120000"));
}

TEST(RenderTest, AnOriginThatAllShareIsSaidOnce) {
  auto f = example(FigureForm::kLines);
  const auto measured = gnuplot_script(f, ImageFormat::kSvg, "x");
  EXPECT_THAT(measured, HasSubstr(" · measured"));
  EXPECT_THAT(measured, Not(HasSubstr("(measured)")));
  f.y_label = "measured time [s]";  // says it already
  EXPECT_THAT(gnuplot_script(f, ImageFormat::kSvg, "x"), Not(HasSubstr(" · measured")));
}

TEST(RenderTest, TicksFromZeroAreRoundAndShareAPrefix) {
  const auto f = example(FigureForm::kLines);  // up to 2 ms, and 6 % above
  const auto script = gnuplot_script(f, ImageFormat::kSvg, "x");
  for (const char* tick : {"('0' 0,", "'0.5 ms' ", "'1 ms' ", "'1.5 ms' ", "'2 ms' "}) {
    EXPECT_THAT(script, HasSubstr(tick));
  }
  EXPECT_THAT(script, Not(HasSubstr("'2.5 ms'")));
}

// A difference of more than a factor of two is told as one.
TEST(RenderTest, LargeDifferencesAreRatios) {
  auto f = example(FigureForm::kAgainst);
  for (auto& s : f.series) s.points = {{.x = 1e-3, .y = 1.5e-3}, {.x = 2e-3, .y = 2e-3}};
  EXPECT_THAT(gnuplot_script(f, ImageFormat::kSvg, "x"), HasSubstr("'difference'"));
  f.series[1].points[0].y = 9e-3;
  EXPECT_THAT(gnuplot_script(f, ImageFormat::kSvg, "x"), HasSubstr("'ratio'"));
}

TEST(RenderTest, SeriesOfSeveralOriginsSayTheirsAsText) {
  const TemporaryDirectory folder;
  auto f = example(FigureForm::kLines);
  f.series[1].origin = "closed form";
  render(f, {ImageFormat::kSvg}, folder.path());
  const auto svg = read_file(folder.path() + "/example.svg");
  EXPECT_THAT(svg, HasSubstr("plain (measured)"));
  EXPECT_THAT(svg, HasSubstr("(closed form)"));
  EXPECT_THAT(svg, HasSubstr("&lt;script>"));
  EXPECT_THAT(svg, HasSubstr("`date`"));  // not the date: nothing in a row is run
  const auto json = parse_json(read_file(folder.path() + "/example.json"), "example.json");
  EXPECT_EQ(json["series"][1]["origin"], "closed form");
}

TEST(RenderTest, UnknownFormatsAreNamed) {
  try {
    image_format("gif");
    FAIL() << "accepted";
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("'gif'"));
  }
}

}  // namespace
}  // namespace assay::lab
