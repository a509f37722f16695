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

// A mark of size 0 is a matrix without an inverse: some viewers then show nothing of the figure.
TEST(RenderTest, NothingIsDrawnAtSizeZero) {
  const TemporaryDirectory folder;
  for (const auto form : {FigureForm::kLines, FigureForm::kScatter}) {
    render(example(form), {ImageFormat::kSvg}, folder.path());
    EXPECT_THAT(read_file(folder.path() + "/example.svg"), Not(HasSubstr("scale(0.00)")));
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

// Texts of an SVG, as a reader sees them.
std::vector<std::string> texts_of(const std::string& svg) {
  std::vector<std::string> texts;
  for (auto at = svg.find("<text>"); at != std::string::npos; at = svg.find("<text>", at + 1)) {
    std::string text;
    bool tag = false;
    for (const char c : svg.substr(at, svg.find("</text>", at) - at)) {
      tag = tag || c == '<';
      if (!tag) text += c;
      if (c == '>') tag = false;
    }
    for (const auto& [escape, letter] :
         {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}}) {
      for (auto i = text.find(escape); i != std::string::npos; i = text.find(escape, i + 1)) {
        text.replace(i, std::string(escape).size(), letter);
      }
    }
    const auto first = text.find_first_not_of(" \n"), last = text.find_last_not_of(" \n");
    if (first != std::string::npos) texts.push_back(text.substr(first, last - first + 1));
  }
  return texts;
}

TEST(RenderTest, AnyNameIsDrawnAsItIs) {
  const std::vector<std::string> names = {
      "95% sparse",  "%.3f",     "50%",    "100%d",   "'quoted'",   "a''b",  "''",
      "back\\slash", "@x_{y}^z", "µ 漢 ü", "`date`",  "\"double\"", "%% %s", "\\n",
      "#hash",       "'.3'7",    "$x",     "a & <b>", "it's 5%"};
  const TemporaryDirectory folder;
  Figure f = example(FigureForm::kBars);
  f.categories = names;
  f.series.clear();
  for (const auto& name : names) {
    FigureSeries s{.label = "of " + name, .origin = "measured", .points = {}};
    for (std::size_t i = 0; i < names.size(); ++i) {
      s.points.push_back({.x = static_cast<double>(i), .y = 1e-3, .low = {}, .high = {}});
    }
    f.series.push_back(s);
  }
  f.title = "title 'of' 5%";
  f.x_label = "'x' 5%";
  render(f, {ImageFormat::kSvg, ImageFormat::kPng}, folder.path());
  const auto texts = texts_of(read_file(folder.path() + "/example.svg"));
  for (const auto& name : names) {
    EXPECT_THAT(texts, ::testing::Contains(name));          // the tick
    EXPECT_THAT(texts, ::testing::Contains("of " + name));  // the key
  }
  EXPECT_THAT(texts, ::testing::Contains(f.title));
  EXPECT_THAT(texts, ::testing::Contains(f.x_label));
}

TEST(RenderTest, BarsOfRatiosGrowFromOne) {
  auto f = example(FigureForm::kBars);
  f.log_y = true;
  EXPECT_THAT(gnuplot_script(f, ImageFormat::kSvg, "x"), HasSubstr("with boxes"));
  f.grow_from = 1;
  f.series[0].points[0].y = 0.25;
  const auto script = gnuplot_script(f, ImageFormat::kSvg, "x");
  EXPECT_THAT(script, HasSubstr(":(1):2 with boxxyerror"));
  EXPECT_THAT(script, Not(HasSubstr("with boxes")));
  const TemporaryDirectory folder;
  render(f, {ImageFormat::kSvg}, folder.path());
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
