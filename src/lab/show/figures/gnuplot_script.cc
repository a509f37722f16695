// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/figures/gnuplot_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/gnuplot.h"
#include "lab/show/figures/gnuplot_axes.h"

namespace assay::lab {
namespace {

// Okabe and Ito's colours, in the order in which neighbours differ most; then marks and dashes.
constexpr std::array kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                 "#E69F00", "#56B4E9", "#000000", "#8C6D31"};
constexpr std::array kFilledMarks = {7, 5, 9, 11, 13, 15};
constexpr std::array kOpenMarks = {6, 4, 8, 10, 12, 14};

const char* colour(std::size_t i) { return kColours[i % kColours.size()]; }

std::string terminal(ImageFormat format, bool is_wide) {
  const int width = is_wide ? 1400 : 1100, height = 700;
  switch (format) {
    case ImageFormat::kPng:
      return fmt::format("pngcairo size {},{} font 'DejaVu Sans,12' background rgb 'white'", width,
                         height);
    case ImageFormat::kPdf:
      return fmt::format("pdfcairo size {:.2f}in,{:.2f}in font 'DejaVu Sans,12'", width / 96.0,
                         height / 96.0);
    case ImageFormat::kSvg:
      return fmt::format(
          "svg size {},{} dynamic font 'DejaVu Sans,12' background rgb 'white' name 'assay'", width,
          height);
  }
  return "";
}

// Boxes of these columns: from the axis, or between two values of y.
std::string boxes(std::size_t i, const Figure& f, double width) {
  if (!f.grow_from) return fmt::format("$s{} using 1:2 with boxes", i);
  return fmt::format("$s{0} using 1:2:($1-{1}):($1+{1}):({2}):2 with boxxyerror", i, width / 2,
                     *f.grow_from);
}

std::string data_block(std::size_t i, const FigureSeries& series, double shift) {
  std::string out = fmt::format("$s{} << EOD\n", i);
  for (const auto& p : series.points) {
    out +=
        fmt::format("{} {} {} {}\n", p.x + shift, p.y, p.low.value_or(p.y), p.high.value_or(p.y));
  }
  return out + "EOD\n";
}

bool says(std::string text, const std::string& word) {
  std::ranges::replace(text, '_', ' ');
  return text.find(word) != std::string::npos;
}

// The origin of all series; empty where they differ.
std::string common_origin(const Figure& f) {
  for (const auto& s : f.series) {
    if (s.origin != f.series.front().origin) return "";
  }
  return f.series.empty() ? "" : f.series.front().origin;
}

// What the second line of the title says: where rows are from, if no axis does and no series must.
std::string second_line(const Figure& f) {
  const auto origin = common_origin(f);
  if (origin.empty() || says(f.y_label, origin) || says(f.subtitle, origin)) return f.subtitle;
  return f.subtitle.empty() ? origin : fmt::format("{} · {}", f.subtitle, origin);
}

std::string key_label(const Figure& f, const FigureSeries& series) {
  const bool is_said = !common_origin(f).empty() || says(series.label, series.origin);
  return gnuplot_quoted(is_said ? series.label
                                : fmt::format("{} ({})", series.label, series.origin));
}

bool has_intervals(const FigureSeries& series) {
  return std::ranges::any_of(series.points, [](const FigurePoint& p) { return p.low.has_value(); });
}

// The line of one series in a plot command.
std::string line_of(const Figure& f, std::size_t i) {
  const FigureSeries& series = f.series[i];
  const bool is_joined = f.form != FigureForm::kScatter;
  const bool is_formula = series.origin == "closed form";
  const bool is_measured = series.origin == "measured";
  const int mark =
      is_measured ? kFilledMarks[i % kFilledMarks.size()] : kOpenMarks[i % kOpenMarks.size()];
  std::string out;
  if (has_intervals(series)) {  // first, so that marks lie above them
    out = fmt::format("$s{} using 1:2:3:4 with yerrorbars lw 1.5 lc rgb '{}' pt -1 notitle, ", i,
                      colour(i));
  }
  return out + fmt::format(
                   "$s{} using 1:2 with {} lw 2 lc rgb '{}' pt {} ps {} dt {} "
                   "title {}",
                   i, is_joined ? "linespoints" : "points", colour(i), mark, is_formula ? 0.7 : 1.1,
                   is_formula ? 2 : 1, key_label(f, series));
}

std::string joined(const std::vector<std::string>& plots) {
  return fmt::format("plot {}\n", fmt::join(plots, ", \\\n     "));
}

std::string frame(const Figure& f) {
  std::string out;
  out += fmt::format("set xlabel {} noenhanced\nset ylabel {} noenhanced\n",
                     gnuplot_quoted(axis_title(f.x_label)), gnuplot_quoted(axis_title(f.y_label)));
  out +=
      "set border 3 lc rgb '#555555'\nset tics out textcolor rgb '#222222'\n"
      "set ytics nomirror\nset grid ytics lt 1 lc rgb '#e4e4e4' lw 1\n";
  return out;
}

// Beside the plot where names are short, else below it, in two columns where they fit.
std::string key(const Figure& f) {
  std::size_t longest = 0;
  for (const auto& s : f.series) longest = std::max(longest, s.label.size());
  if (longest <= 24) {
    return "set key outside right top Left reverse noenhanced samplen 2.5 spacing 1.15\n";
  }
  constexpr std::size_t kHalf = 44;  // letters beside which another name has room
  const int columns = longest <= kHalf ? 2 : 1;
  const double rows = std::ceil(static_cast<double>(f.series.size() + f.marks.size()) / columns);
  return fmt::format(
      "set key at screen 0.5,0.015 center bottom Left reverse noenhanced samplen 2.5 spacing 1.15 "
      "maxcols {} maxrows {}\nset bmargin at screen {:.3f}\n",
      columns, rows, 0.13 + 0.034 * rows);
}

std::string lines(const Figure& f) {
  std::string out = x_axis(f) + y_axis(f);
  std::vector<std::string> plots;
  for (const auto& roof : f.roofs) {
    plots.push_back(
        fmt::format("{0}*x < {1} ? {0}*x : {1} with lines lw 2 lc rgb '#777777' title {2}",
                    roof.slope, roof.peak, gnuplot_quoted(roof.label)));
  }
  if (!f.roofs.empty()) out += "set samples 500\n";
  for (std::size_t i = 0; i < f.series.size(); ++i) {
    out += data_block(i, f.series[i], 0);
    plots.push_back(line_of(f, i));
  }
  for (std::size_t i = 0; i < f.marks.size(); ++i) {
    plots.push_back(fmt::format("{} with lines lw 1.5 dt {} lc rgb '#777777' title {}",
                                f.marks[i].y, 2 + i % 4, gnuplot_quoted(f.marks[i].label)));
  }
  return out + joined(plots);
}

std::string bars(const Figure& f) {
  std::string out = x_axis(f) + y_axis(f);
  // Where no two series stand at one category (a bar for each provider), none needs room for
  // others.
  std::multiset<double> places;
  for (const auto& s : f.series) {
    for (const auto& p : s.points) places.insert(p.x);
  }
  const bool alone = std::ranges::all_of(places, [&](double x) { return places.count(x) == 1; });
  const double count = alone ? 1 : static_cast<double>(f.series.size()), width = 0.8 / count;
  out += fmt::format("set style fill solid 0.9 noborder\nset boxwidth {}\n", width * 0.92);
  std::vector<std::string> plots;
  if (f.grow_from) {
    plots.push_back(fmt::format("{} with lines lw 1.5 lc rgb '#777777' notitle", *f.grow_from));
  }
  std::size_t next = 0;  // colour
  for (std::size_t i = 0; i < f.series.size(); ++i) {
    const double place = alone ? 0 : static_cast<double>(i);
    out += data_block(i, f.series[i], (place - (count - 1) / 2) * width);
    const std::size_t shade = f.series[i].shade;
    if (shade == 0) ++next;
    std::string fill = next <= kColours.size() ? "" : " fs pattern 4";
    if (shade > 0) fill = fmt::format(" fs solid {:.2f}", 0.9 / static_cast<double>(1 + shade));
    plots.push_back(fmt::format("{} lc rgb '{}'{} title {}", boxes(i, f, width * 0.92),
                                colour(next - 1), fill, key_label(f, f.series[i])));
    if (has_intervals(f.series[i])) {
      plots.push_back(fmt::format(
          "$s{} using 1:3:(0):($4-$3) with vectors nohead lw 2 lc rgb '#333333' notitle", i));
    }
  }
  return out + joined(plots);
}

std::string stacked(const Figure& f) {
  std::vector<double> top(f.categories.size(), 0);
  std::string out;
  std::vector<std::string> plots;
  for (std::size_t i = 0; i < f.series.size(); ++i) {
    out += fmt::format("$s{} << EOD\n", i);
    for (const auto& p : f.series[i].points) {
      double& from = top[static_cast<std::size_t>(p.x)];
      out +=
          fmt::format("{} {} {} {} {} {}\n", p.x, from, p.x - 0.36, p.x + 0.36, from, from + p.y);
      from += p.y;
    }
    out += "EOD\n";
    plots.push_back(fmt::format("$s{} using 1:2:3:4:5:6 with boxxyerror lc rgb '{}' title {}", i,
                                colour(i), key_label(f, f.series[i])));
  }
  const double most = top.empty() ? 1 : *std::ranges::max_element(top);
  return out + x_axis(f) + y_axis_from_zero(f.y_label, most) +
         "set style fill solid 0.9 noborder\n" + joined(plots);
}

// The lower half of a comparison: the difference in percent, or beyond a factor of two the ratio.
std::string deviations(const Figure& f) {
  double least = 1, most = 1;  // of value over reference
  for (const auto& s : f.series) {
    for (const auto& p : s.points) {
      if (!(p.x > 0) || !(p.y > 0)) continue;
      least = std::min(least, p.y / p.x);
      most = std::max(most, p.y / p.x);
    }
  }
  const bool is_ratio = least < 0.5 || most > 2;
  std::vector<std::string> plots = {
      fmt::format("{} with lines lc rgb '#999999' lw 1.5 notitle", is_ratio ? 1 : 0)};
  for (std::size_t i = 0; i < f.series.size(); ++i) {
    plots.push_back(fmt::format(
        "$s{} using 1:({}) with points lw 2 pt {} ps 1.3 lc rgb '{}' notitle", i,
        is_ratio ? "$2/$1" : "100*($2/$1-1)", kOpenMarks[i % kOpenMarks.size()], colour(i)));
  }
  return (is_ratio ? log_axis("y", "", least / 1.4, most * 1.4) +
                         "set format y '%g ×'\nset ylabel 'ratio' noenhanced\n"
                   : "unset logscale y\nset autoscale y\nset offsets 0,0,0.5,0.5\n"
                     "set ytics nomirror autofreq\nset format y '%g %%'\n"
                     "set ylabel 'difference' noenhanced\n") +
         joined(plots);
}

// Above: value against the reference's with the diagonal. Below: how far they are apart.
std::string against(const Figure& f) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  std::string out;
  std::vector<std::string> above = {"x with lines lc rgb '#999999' lw 1.5 title 'equal'"};
  for (std::size_t i = 0; i < f.series.size(); ++i) {
    out += data_block(i, f.series[i], 0);
    for (const auto& p : f.series[i].points) {
      for (const double value : {p.x, p.y}) {
        if (value > 0) least = std::min(least, value);
        most = std::max(most, value);
      }
    }
    above.push_back(fmt::format("$s{} using 1:2 with points lw 2 pt {} ps 1.3 lc rgb '{}' title {}",
                                i, kOpenMarks[i % kOpenMarks.size()], colour(i),
                                key_label(f, f.series[i])));
  }
  if (!(most > 0)) least = most = 1;  // nothing that decades could show
  out += log_axis("x", f.x_label, least / 1.5, most * 1.5) +
         log_axis("y", f.y_label, least / 1.5, most * 1.5);
  out +=
      "set multiplot\nset lmargin at screen 0.12\nset rmargin at screen 0.68\n"
      "set tmargin at screen 0.86\nset bmargin at screen 0.42\n"
      "set key at screen 0.70,0.86 left top Left reverse noenhanced samplen 1.5\nset format x ''\n"
      "unset xlabel\n";
  out += joined(above);
  out +=
      "unset title\nunset label 1\nunset key\n"
      "set tmargin at screen 0.36\nset bmargin at screen 0.12\n";
  out += log_axis("x", f.x_label, least / 1.5, most * 1.5) +
         fmt::format("set xlabel {} noenhanced\n", gnuplot_quoted(axis_title(f.x_label)));
  return out + deviations(f) + "unset multiplot\n";
}

}  // namespace

std::string gnuplot_script(const Figure& f, ImageFormat format, const std::string& image) {
  std::string out = fmt::format("set terminal {}\nset encoding utf8\nset micro\nset output {}\n",
                                terminal(format, f.categories.size() > 12), gnuplot_quoted(image));
  // Two lines of one title: the second is smaller, and may hold what rows say.
  const auto subtitle = second_line(f);
  out += fmt::format("set title {} font ',14' noenhanced offset 0,{}\n", gnuplot_quoted(f.title),
                     subtitle.empty() ? 0 : 0.9);
  if (!subtitle.empty()) {
    out += fmt::format(
        "set label 1 {} at graph 0.5,1.0 center offset 0,0.75 font ',11' textcolor rgb '#555555' "
        "noenhanced\n",
        gnuplot_quoted(subtitle));
  }
  out += "set tmargin 5\n" + frame(f) + key(f);
  switch (f.form) {
    case FigureForm::kLines:
    case FigureForm::kScatter:
      return out + lines(f);
    case FigureForm::kBars:
      return out + bars(f);
    case FigureForm::kStacked:
      return out + stacked(f);
    case FigureForm::kAgainst:
      return out + against(f);
    case FigureForm::kTable:
      break;
  }
  throw InternalError("a table is no picture");
}

}  // namespace assay::lab
