// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/figures/gnuplot_axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "base/gnuplot.h"

namespace assay::lab {
namespace {

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

// Labels of gnuplot's own ticks: prefixes for what has a unit, plain numbers for the rest.
std::string tick_format(const char* axis, const std::string& label) {
  return fmt::format(
      "set format {} {}\n", axis,
      ticks_have_unit(label) ? gnuplot_quoted("%.0s %c" + unit_of(label)) : std::string("'%g'"));
}

// A round step that divides this length into four to eight.
double round_step(double length) {
  const double rough = length / 8, decade = std::pow(10, std::floor(std::log10(rough)));
  return decade * (rough <= decade ? 1 : rough <= 2 * decade ? 2 : rough <= 5 * decade ? 5 : 10);
}

// Round steps up to `high`, all labels with the prefix that fits the largest.
std::string unit_ticks(const std::string& unit, double high) {
  constexpr std::array kPrefixes = {"p", "n", "µ", "m", "", "k", "M", "G", "T"};
  constexpr int kNone = 4;
  const double step = round_step(high);
  // The last tick decides, not the bound: 0.5 and 1 ms, though the axis ends at 1.06 ms.
  const int last = static_cast<int>(std::floor(high / step * (1 + 1e-9)));
  const int power =
      std::clamp(static_cast<int>(std::floor(std::log10(last * step * (1 + 1e-9)) / 3)), -kNone,
                 static_cast<int>(kPrefixes.size()) - 1 - kNone);
  std::vector<std::string> ticks = {"'0' 0"};
  for (int i = 1; i <= last; ++i) {
    const auto text = fmt::format("{:.6g} {}{}", i * step / std::pow(1000, power),
                                  kPrefixes[static_cast<std::size_t>(power + kNone)], unit);
    ticks.push_back(fmt::format("{} {}", gnuplot_tick_label(text), i * step));
  }
  return fmt::format("set ytics nomirror noenhanced ({})\n", fmt::join(ticks, ", "));
}

// Below some two decades, powers of ten alone are too few labels: 1, 2 and 5 of each; below a
// decade, where numbers have no unit to be rounded to, equal steps.
std::string ticks_between(const char* axis, const std::string& label, double low, double high) {
  if (!(low > 0) || !std::isfinite(high) || high / low > 200) {
    return fmt::format("set {}tics nomirror autofreq\n", axis);
  }
  std::vector<std::string> ticks;
  if (high / low < 10 && !ticks_have_unit(label)) {
    const double step = round_step(high - low);
    for (double i = std::ceil(low / step); i * step <= high; ++i) {
      ticks.push_back(fmt::format("{:.6g}", i * step));
    }
    return fmt::format("set {}tics nomirror ({})\n", axis, fmt::join(ticks, ", "));
  }
  for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10, power) <= high;
       ++power) {
    for (const int digit : {1, 2, 5}) ticks.push_back(fmt::format("{}e{}", digit, power));
  }
  return fmt::format("set {}tics nomirror ({})\n", axis, fmt::join(ticks, ", "));
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

std::string category_axis(const std::vector<std::string>& categories) {
  std::vector<std::string> ticks;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < categories.size(); ++i) {
    ticks.push_back(fmt::format("{} {}", gnuplot_tick_label(categories[i]), i));
    longest = std::max(longest, categories[i].size());
  }
  const bool turned = longest * categories.size() > 70;
  return fmt::format("set xtics ({}) nomirror noenhanced{}\nset xrange [-0.6:{}]\n",
                     fmt::join(ticks, ", "), turned ? " rotate by -35 left" : "",
                     static_cast<double>(categories.size()) - 0.4);
}

}  // namespace

std::string axis_title(const std::string& label) {
  return ticks_have_unit(label) ? label.substr(0, label.rfind(" [")) : label;
}

std::string x_axis(const Figure& f) {
  if (!f.categories.empty()) return category_axis(f.categories);
  std::set<double> values;
  for (const auto& s : f.series) {
    for (const auto& p : s.points) values.insert(p.x);
  }
  if (f.form == FigureForm::kScatter && f.log_x && values.size() > 1) {  // measured, like y
    return log_axis("x", f.x_label, *values.begin() / 1.1, *values.rbegin() * 1.1);
  }
  std::string out = f.log_x ? "set logscale x 2\n" : "";
  if (values.size() <= 14 && !crowded(values, f.log_x)) {
    std::vector<std::string> ticks;
    for (const double x : values) {
      ticks.push_back(fmt::format("{} {}", gnuplot_tick_label(bytes_or_number(f.x_label, x)), x));
    }
    out += fmt::format("set xtics ({}) nomirror noenhanced\n", fmt::join(ticks, ", "));
  } else {
    out += "set xtics nomirror\n" + tick_format("x", f.x_label);
  }
  if (f.log_x && values.size() > 1) {
    out += fmt::format("set xrange [{}:{}]\n", *values.begin() / 1.25, *values.rbegin() * 1.25);
  } else if (values.size() > 1) {
    const double margin = 0.04 * (*values.rbegin() - *values.begin());
    out += fmt::format("set xrange [{}:{}]\n", *values.begin() - margin, *values.rbegin() + margin);
  }
  return out;
}

std::string y_axis(const Figure& f) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const auto& s : f.series) {
    for (const auto& p : s.points) {
      least = std::min(least, p.low.value_or(p.y));
      most = std::max(most, p.high.value_or(p.y));
    }
  }
  if (f.grow_from) {
    least = std::min(least, *f.grow_from);
    most = std::max(most, *f.grow_from);
  }
  for (const auto& mark : f.marks) {
    least = std::min(least, mark.y);
    most = std::max(most, mark.y);
  }
  for (const auto& roof : f.roofs) most = std::max(most, roof.peak);
  if (f.log_y) return log_axis("y", f.y_label, least / 1.6, most * 1.6);
  // Lengths are compared from zero.
  return least >= 0 ? y_axis_from_zero(f.y_label, most) : tick_format("y", f.y_label);
}

std::string y_axis_from_zero(const std::string& label, double high) {
  const double end = high > 0 && std::isfinite(high) ? high * 1.06 : 1;
  return fmt::format("set yrange [0:{}]\n", end) +
         (ticks_have_unit(label) ? unit_ticks(unit_of(label), end) : tick_format("y", label));
}

std::string log_axis(const char* axis, const std::string& label, double low, double high) {
  return fmt::format("set logscale {0}\nset {0}range [{1}:{2}]\n", axis, low, high) +
         ticks_between(axis, label, low, high) + tick_format(axis, label);
}

}  // namespace assay::lab
