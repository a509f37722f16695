// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/figures/gnuplot_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/gnuplot.h"
#include "base/units.h"

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

// "[s]" at the end of a label tells the unit.
std::string unit_of(const std::string& label) {
  const auto open = label.rfind('[');
  if (open == std::string::npos || !label.ends_with("]")) return "";
  return label.substr(open + 1, label.size() - open - 2);
}

bool ticks_have_unit(const std::string& label) {
  const auto unit = unit_of(label);
  return unit == "s" || unit == "B" || unit == "B/s" || unit == "flop/s" || unit == "1/s";
}
// Where tick labels carry the unit, the axis need not.
std::string axis_title(const std::string& label) {
  return ticks_have_unit(label) ? label.substr(0, label.rfind(" [")) : label;
}

// Tick labels: prefixes for what has a unit, plain numbers for the rest.
std::string axis_format(const char* axis, const std::string& label, bool is_log) {
  const auto unit = unit_of(label);
  const bool is_si = ticks_have_unit(label);
  return fmt::format(
      "set format {} {}\n", axis,
      is_si ? gnuplot_quoted((is_log ? "%.0s %c" : "%.1s %c") + unit) : std::string("'%g'"));
}

std::string bytes_or_number(const std::string& label, double x) {
  if (unit_of(label) != "B") return fmt::format("{:g}", x);
  int power = 0;
  while (power < 4 && x >= 1024) {
    x /= 1024;
    ++power;
  }
  return fmt::format("{:.3g} {}", x, std::array{"B", "KiB", "MiB", "GiB", "TiB"}[power]);
}

std::string data_block(std::size_t i, const FigureSeries& series, double shift) {
  std::string out = fmt::format("$s{} << EOD\n", i);
  for (const auto& p : series.points) {
    out +=
        fmt::format("{} {} {} {}\n", p.x + shift, p.y, p.low.value_or(p.y), p.high.value_or(p.y));
  }
  return out + "EOD\n";
}

std::string key_label(const FigureSeries& series) {
  std::string said = series.label;
  std::ranges::replace(said, '_', ' ');
  const bool says_it = said.find(series.origin) != std::string::npos;
  return gnuplot_quoted(says_it ? series.label
                                : fmt::format("{} ({})", series.label, series.origin));
}

bool has_intervals(const FigureSeries& series) {
  return std::ranges::any_of(series.points, [](const FigurePoint& p) { return p.low.has_value(); });
}

// The line of one series in a plot command.
std::string line_of(std::size_t i, const FigureSeries& series, bool is_joined) {
  const bool is_formula = series.origin == "closed form";
  const bool is_measured = series.origin == "measured";
  const int mark =
      is_measured ? kFilledMarks[i % kFilledMarks.size()] : kOpenMarks[i % kOpenMarks.size()];
  std::string out;
  if (has_intervals(series)) {  // first, so that marks lie above them
    out = fmt::format("$s{} using 1:2:3:4 with yerrorbars lw 1.5 lc rgb '{}' ps 0 notitle, ", i,
                      colour(i));
  }
  return out + fmt::format(
                   "$s{} using 1:2 with {} lw 2 lc rgb '{}' pt {} ps {} dt {} "
                   "title {}",
                   i, is_joined || is_formula ? "linespoints" : "points", colour(i), mark,
                   is_formula ? 0.7 : 1.1, is_formula ? 2 : 1, key_label(series));
}

std::string joined(const std::vector<std::string>& plots) {
  return fmt::format("plot {}\n", fmt::join(plots, ", \\\n     "));
}

// Whether labels at these values would fall on one another.
bool crowded(const std::set<double>& values, bool is_log) {
  const auto place = [&](double x) { return is_log ? std::log(x) : x; };
  const double whole = place(*values.rbegin()) - place(*values.begin());
  double before = -std::numeric_limits<double>::infinity();
  for (const double x : values) {
    if (place(x) - before < whole / 16) return true;
    before = place(x);
  }
  return false;
}

std::string x_ticks(const Figure& f) {
  std::vector<std::string> ticks;
  if (!f.categories.empty()) {
    std::size_t longest = 0;
    for (std::size_t i = 0; i < f.categories.size(); ++i) {
      ticks.push_back(fmt::format("{} {}", gnuplot_quoted(f.categories[i]), i));
      longest = std::max(longest, f.categories[i].size());
    }
    const bool turned = longest * f.categories.size() > 70;
    return fmt::format("set xtics ({}) nomirror noenhanced{}\nset xrange [-0.6:{}]\n",
                       fmt::join(ticks, ", "), turned ? " rotate by -35 left" : "",
                       static_cast<double>(f.categories.size()) - 0.4);
  }
  std::set<double> values;
  for (const auto& s : f.series) {
    for (const auto& p : s.points) values.insert(p.x);
  }
  std::string out = f.log_x ? "set logscale x 2\n" : "";
  if (values.size() <= 14 && !crowded(values, f.log_x)) {
    for (const double x : values) {
      ticks.push_back(fmt::format("{} {}", gnuplot_quoted(bytes_or_number(f.x_label, x)), x));
    }
    out += fmt::format("set xtics ({}) nomirror noenhanced\n", fmt::join(ticks, ", "));
  } else {
    out += "set xtics nomirror\n" + axis_format("x", f.x_label, f.log_x);
  }
  if (f.log_x && values.size() > 1) {
    out += fmt::format("set xrange [{}:{}]\n", *values.begin() / 1.25, *values.rbegin() * 1.25);
  } else if (values.size() > 1) {
    const double margin = 0.04 * (*values.rbegin() - *values.begin());
    out += fmt::format("set xrange [{}:{}]\n", *values.begin() - margin, *values.rbegin() + margin);
  }
  return out;
}

// Below two decades, powers of ten alone are too few labels: 1, 2 and 5 of each.
std::string ticks_between(double low, double high) {
  if (!(low > 0) || !std::isfinite(high) || high / low > 100) return "";
  std::vector<std::string> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10, power) <= high;
       ++power) {
    for (const int digit : {1, 2, 5}) ticks.push_back(fmt::format("{}e{}", digit, power));
  }
  return fmt::format("set ytics nomirror ({})\n", fmt::join(ticks, ", "));
}

std::string y_range(const Figure& f) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const auto& s : f.series) {
    for (const auto& p : s.points) {
      least = std::min(least, p.low.value_or(p.y));
      most = std::max(most, p.high.value_or(p.y));
    }
  }
  for (const auto& mark : f.marks) {
    least = std::min(least, mark.y);
    most = std::max(most, mark.y);
  }
  if (f.log_y) {
    return fmt::format("set logscale y\nset yrange [{}:{}]\n{}", least / 1.6, most * 1.6,
                       ticks_between(least / 1.6, most * 1.6));
  }
  // Lengths are compared from zero.
  return least >= 0 ? fmt::format("set yrange [0:{}]\n", most > 0 ? most * 1.06 : 1) : "";
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

// Beside the plot where names are short, else in two columns below it.
std::string key(const Figure& f) {
  std::size_t longest = 0;
  for (const auto& s : f.series) longest = std::max(longest, s.label.size());
  if (longest <= 24) {
    return "set key outside right top Left reverse noenhanced samplen 2.5 spacing 1.15\n";
  }
  const double rows = std::ceil(static_cast<double>(f.series.size()) / 2);
  return fmt::format(
      "set key at screen 0.5,0.015 center bottom Left reverse noenhanced samplen 2.5 spacing 1.15 "
      "maxcols 2 maxrows {}\nset bmargin at screen {:.3f}\n",
      rows, 0.13 + 0.034 * rows);
}

std::string lines(const Figure& f) {
  std::string out = x_ticks(f) + y_range(f) + axis_format("y", f.y_label, f.log_y);
  std::vector<std::string> plots;
  for (std::size_t i = 0; i < f.series.size(); ++i) {
    out += data_block(i, f.series[i], 0);
    plots.push_back(line_of(i, f.series[i], f.form != FigureForm::kScatter));
  }
  for (std::size_t i = 0; i < f.marks.size(); ++i) {
    plots.push_back(fmt::format("{} with lines lw 1.5 dt {} lc rgb '#777777' title {}",
                                f.marks[i].y, 2 + i % 4, gnuplot_quoted(f.marks[i].label)));
  }
  return out + joined(plots);
}

std::string bars(const Figure& f) {
  std::string out = x_ticks(f) + y_range(f) + axis_format("y", f.y_label, f.log_y);
  const double count = static_cast<double>(f.series.size()), width = 0.8 / count;
  out += fmt::format("set style fill solid 0.9 noborder\nset boxwidth {}\n", width * 0.92);
  std::vector<std::string> plots;
  std::size_t next = 0;  // colour
  for (std::size_t i = 0; i < f.series.size(); ++i) {
    out += data_block(i, f.series[i], (static_cast<double>(i) - (count - 1) / 2) * width);
    const std::size_t shade = f.series[i].shade;
    if (shade == 0) ++next;
    std::string fill = next <= kColours.size() ? "" : " fs pattern 4";
    if (shade > 0) fill = fmt::format(" fs solid {:.2f}", 0.9 / static_cast<double>(1 + shade));
    plots.push_back(fmt::format("$s{} using 1:2 with boxes lc rgb '{}'{} title {}", i,
                                colour(next - 1), fill, key_label(f.series[i])));
    if (has_intervals(f.series[i])) {
      plots.push_back(fmt::format(
          "$s{} using 1:2:3:4 with yerrorbars lw 1.2 lc rgb '#333333' ps 0 notitle", i));
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
                                colour(i), key_label(f.series[i])));
  }
  const double most = top.empty() ? 1 : *std::ranges::max_element(top);
  out += x_ticks(f) + axis_format("y", f.y_label, f.log_y) + "set style fill solid 0.9 noborder\n";
  return out + fmt::format("set yrange [0:{}]\n", most > 0 ? most * 1.06 : 1) + joined(plots);
}

// Above: value against the reference's with the diagonal. Below: the relative difference.
std::string against(const Figure& f) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  std::string out;
  std::vector<std::string> above = {"x with lines lc rgb '#999999' lw 1.5 title 'equal'"}, below;
  for (std::size_t i = 0; i < f.series.size(); ++i) {
    out += data_block(i, f.series[i], 0);
    for (const auto& p : f.series[i].points) {
      least = std::min(least, p.x);
      most = std::max(most, p.x);
    }
    const int mark = kOpenMarks[i % kOpenMarks.size()];
    above.push_back(fmt::format("$s{} using 1:2 with points lw 2 pt {} ps 1.3 lc rgb '{}' title {}",
                                i, mark, colour(i), key_label(f.series[i])));
    below.push_back(
        fmt::format("$s{} using 1:(100*($2/$1-1)) with points lw 2 pt {} ps 1.3 lc rgb "
                    "'{}' notitle",
                    i, mark, colour(i)));
  }
  below.push_back("0 with lines lc rgb '#999999' lw 1.5 notitle");
  const auto range = fmt::format("[{}:{}]", least / 1.5, most * 1.5);
  out +=
      fmt::format("set logscale x\nset xrange {}\n", range) + axis_format("x", f.x_label, f.log_x);
  out +=
      "set multiplot\nset lmargin at screen 0.09\nset rmargin at screen 0.68\n"
      "set tmargin at screen 0.86\nset bmargin at screen 0.42\n"
      "set key at screen 0.70,0.86 left top Left reverse noenhanced samplen 1.5\nset format x ''\n"
      "unset xlabel\nset xtics nomirror\n";
  out +=
      fmt::format("set logscale y\nset yrange {}\n", range) + axis_format("y", f.y_label, f.log_y);
  out += joined(above);
  out +=
      "unset title\nunset label 1\nunset key\nunset logscale y\nset autoscale y\nset offsets "
      "0,0,0.5,0.5\n"
      "set tmargin at screen 0.36\nset bmargin at screen 0.12\nset format y '%g %%'\n"
      "set ylabel 'difference' noenhanced\n";
  out += axis_format("x", f.x_label, f.log_x) +
         fmt::format("set xlabel {} noenhanced\n", gnuplot_quoted(axis_title(f.x_label)));
  return out + joined(below) + "unset multiplot\n";
}

}  // namespace

std::string gnuplot_script(const Figure& f, ImageFormat format, const std::string& image) {
  std::string out = fmt::format("set terminal {}\nset encoding utf8\nset micro\nset output {}\n",
                                terminal(format, f.categories.size() > 12), gnuplot_quoted(image));
  // Two lines of one title: the second is smaller, and may hold what rows say.
  out += fmt::format("set title {} font ',14' noenhanced offset 0,{}\n", gnuplot_quoted(f.title),
                     f.subtitle.empty() ? 0 : 0.9);
  if (!f.subtitle.empty()) {
    out += fmt::format(
        "set label 1 {} at graph 0.5,1.0 center offset 0,0.75 font ',11' textcolor rgb '#555555' "
        "noenhanced\n",
        gnuplot_quoted(f.subtitle));
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
