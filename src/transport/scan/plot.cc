// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/plot.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/gnuplot.h"
#include "transport/scan/field_line.h"

namespace assay::transport {
namespace {

// A map over one field period, the first row and column repeated so that it closes.
std::string map_block(const char* name, const Geometry& g, const Field& values) {
  std::string out = fmt::format("${} << EOD\n", name);
  for (int j = 0; j <= g.grid.n_zeta; ++j) {
    for (int i = 0; i <= g.grid.n_theta; ++i) {
      const auto r =
          static_cast<std::size_t>(i % g.grid.n_theta + j % g.grid.n_zeta * g.grid.n_theta);
      out += fmt::format("{:.5g} {:.5g} {:.8g}\n", 2.0 * j / g.grid.n_zeta / g.nfp,
                         2.0 * i / g.grid.n_theta, values[r]);
    }
    out += "\n";
  }
  return out + "EOD\n";
}

// A diverging palette has its middle at zero only if the range is symmetric.
double symmetric_range(const Field& values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest > 0 ? largest : 1;
}

// |B| along a field line: the wells that particles are trapped in.
std::string line_panel(const Geometry& g) {
  std::string out = "$line << EOD\n";
  for (const auto& [turns, b] : field_line(g)) out += fmt::format("{:.6g} {:.8g}\n", turns, b);
  return out +
         "EOD\nset title '|B| along the field line through θ = ζ = 0'\n"
         "set xlabel 'toroidal turns, ζ/2π'; set ylabel '|B| [T]'; unset key\n"
         "set grid xtics ytics lc rgb '#dddddd'; set autoscale xfix\n"
         "plot $line using 1:2 with lines lw 2 lc rgb '#2a6fbb'\n";
}

// The curves of a scan: over ν̂, or over the field where there is one ν̂ only; one for each value of
// the other. Columns: ν̂ or field, ν*, D11*, D31, D33/D33_Sp, D33.
struct ScanCurves {
  std::string data;
  std::vector<std::string> titles;
  bool over_nu = true;
  double least_d31 = 1e300, most_d31 = 0;  // moduli, of what is not 0
};

ScanCurves scan_curves(const RunInput& in, const Geometry& g,
                       const std::vector<Solution>& solutions) {
  ScanCurves out;
  const std::size_t n_nu = in.nu_hat.size(), n_field = in.pairs ? 1 : in.field.size();
  out.over_nu = n_nu > 1;
  const std::size_t points = out.over_nu ? n_nu : n_field, lines = out.over_nu ? n_field : n_nu;
  for (std::size_t line = 0; line < lines; ++line) {
    out.data += fmt::format("$c{} << EOD\n", line);
    for (std::size_t p = 0; p < points; ++p) {
      const auto& s = solutions[out.over_nu ? p * n_field + line : line * n_field + p];
      const auto stars = benchmark_stars(s.d, g, s.at.nu_hat, s.at.epsi_hat * g.psi_prime);
      out.data += fmt::format("{:.8g} {:.8g} {:.8g} {:.8g} {:.8g} {:.8g}\n",
                              out.over_nu ? in.nu_hat[p] : in.field[p], stars.nu_star,
                              stars.d11_star, s.d.d31, s.d.d33 / s.d.d33_spitzer, s.d.d33);
      if (const double size = std::abs(s.d.d31); size > 0) {
        out.least_d31 = std::min(out.least_d31, size);
        out.most_d31 = std::max(out.most_d31, size);
      }
    }
    out.data += "EOD\n";
    out.titles.push_back(in.pairs ? "pairs of ν̂ and field"
                                  : fmt::format("{} = {:g}",
                                                !out.over_nu     ? "ν̂"
                                                : in.field_is_er ? "Ê_r"
                                                                 : "Ê_ψ",
                                                out.over_nu ? in.field[line] : in.nu_hat[line]));
  }
  return out;
}

std::string plot_columns(const ScanCurves& curves, const char* columns, const char* style,
                         bool titled) {
  std::string plot;
  for (std::size_t i = 0; i < curves.titles.size(); ++i) {
    plot += fmt::format(
        "{}$c{} using {} with {} lc {} {}", plot.empty() ? "plot " : ", ", i, columns, style, i + 1,
        titled ? "title " + gnuplot_quoted(curves.titles[i]) + " noenhanced" : "notitle");
  }
  return plot;
}

// An axis for values of both signs: linear within ±unit, logarithmic beyond, with powers of ten.
std::string symmetric_log_axis(double least, double most) {
  const double low = std::max(std::floor(std::log10(least)), std::ceil(std::log10(most)) - 4);
  const double unit = std::pow(10, low);
  std::string tics = "0 0";
  for (double e = low; e <= std::ceil(std::log10(most)); ++e) {
    tics += fmt::format(", '10^{{{0:g}}}' {1:g}, '-10^{{{0:g}}}' {2:g}", e, std::pow(10, e),
                        -std::pow(10, e));
  }
  return fmt::format("set nonlinear y via asinh(y/{0:g}) inverse {0:g}*sinh(y)\nset ytics ({1})\n",
                     unit, tics);
}

// Three panels: D11* over ν* with every curve in its key, D31 with its sign, and D33 with its share
// of Spitzer's value.
std::string curve_panels(const RunInput& in, const Geometry& g,
                         const std::vector<Solution>& solutions) {
  const auto curves = scan_curves(in, g, solutions);
  const char* field = in.field_is_er ? "Ê_r [T]" : "Ê_ψ [1/m]";
  const std::string axis = curves.over_nu
                               ? "set logscale x; set format x '10^{%T}'; set xlabel 'ν̂ [1/m]'\n"
                               : fmt::format("set xlabel '{}'\n", field);
  const char* line = "linespoints lw 2 pt 7 ps 0.5";
  std::string out = curves.data;
  out += "set grid xtics ytics lc rgb '#dddddd'; unset colorbox; set autoscale\n" + axis;
  out +=
      "set title 'D_{11}*: 1 is the plateau of a tokamak'; set ylabel 'D_{11}*'\n"
      "set logscale y; set format y '10^{%T}'\n"
      "set key at graph 1.02,1 left top vertical samplen 1 font ',10'\n";
  if (curves.over_nu) out += "set xlabel 'ν* = ν̂R/ι'\n";
  out += plot_columns(curves, curves.over_nu ? "2:(abs($3))" : "1:(abs($3))", line, true) + "\n";
  out += "unset logscale y; set format y '%g'; unset key\n" + axis;
  out += "set title 'D_{31} with its sign, along b'; set ylabel 'D_{31} [1/T]'\n";
  if (curves.most_d31 > 0) out += symmetric_log_axis(curves.least_d31, curves.most_d31);
  out += plot_columns(curves, "1:4", line, false) + "\n";
  out +=
      "unset nonlinear y; set ytics autofreq nomirror; set y2tics\n"
      "set title 'D_{33}: its share of Spitzer (solid, left), itself (dashed, right)'\n"
      "set ylabel 'D_{33}/D_{33}^{Sp}'; set yrange [0:1.02]; set y2label 'D_{33} [m]'\n"
      "set logscale y2; set format y2 '10^{%T}'\n";
  out += plot_columns(curves, "1:5", line, false) + ", " +
         plot_columns(curves, "1:6 axes x1y2", "lines lw 1 dt 2", false).substr(5) + "\n";
  return out;
}

std::string summary(const RunInput& in, const Prepared& prepared,
                    const std::vector<Solution>& solutions) {
  const auto& g = prepared.geometry();
  double residual = 0, onsager = 0;
  std::vector<std::string> warnings;
  std::set<std::string_view> methods;
  for (const auto& s : solutions) {
    methods.insert(name_of(s.method));
    residual = std::max(residual, s.quality.whole ? s.quality.residual : s.residual);
    onsager = std::max(onsager, s.onsager);
    for (const auto& w : s.warnings) {
      if (std::ranges::find(warnings, w) == warnings.end()) warnings.push_back(w);
    }
  }
  const auto range = [](const std::vector<double>& v) {
    const auto [least, most] = std::ranges::minmax(v);
    return v.size() == 1 ? fmt::format("{:g}", least)
                         : fmt::format("{:g} … {:g} ({} values)", least, most, v.size());
  };
  std::vector<std::string> lines = {
      "surface   " + prepared.name(),
      fmt::format("grid      {} × {} × {}", g.grid.n_theta, g.grid.n_zeta, g.grid.n_xi),
      fmt::format("nfp       {}", g.nfp),
      fmt::format("ι         {:.6g}", g.iota),
      fmt::format("ψ'        {:.6g} T m", g.psi_prime),
      fmt::format("B₀        {:.6g} T", g.b0),
      fmt::format("⟨B²⟩      {:.6g} T²", g.mean_b2),
      "nu_hat    " + range(in.nu_hat) + " 1/m",
      (in.field_is_er ? "er_hat    " : "epsi_hat  ") + range(in.field) +
          (in.field_is_er ? " T" : " 1/m")};
  if (solutions.size() == 1) {
    const auto& d = solutions.front().d;
    lines.push_back(fmt::format("D11       {:.6g} 1/(m T²)", d.d11));
    lines.push_back(fmt::format("D31       {:.6g} 1/T", d.d31));
    lines.push_back(fmt::format("D13       {:.6g} 1/T", d.d13));
    lines.push_back(fmt::format("D33       {:.6g} m   (Spitzer {:.6g})", d.d33, d.d33_spitzer));
  }
  lines.push_back(fmt::format("residual  {:.1e}", residual));
  lines.push_back(fmt::format("Onsager   {:.1e}", onsager));
  lines.push_back(fmt::format("methods   {}", fmt::join(methods, ", ")));
  lines.push_back(warnings.empty() ? "warnings  none"
                                   : fmt::format("warnings  {}", warnings.size()));
  std::string out =
      "reset\nset title 'Summary'\nunset border; unset tics; unset key; unset colorbox\n"
      "set xrange [0:1]; set yrange [0:1]\n";
  double y = 0.97;
  for (const auto& line : lines) {
    out += fmt::format("set label {} at 0.02,{:.3f} font 'DejaVu Sans Mono,12' noenhanced\n",
                       gnuplot_quoted(line), y);
    y -= 0.057;
  }
  return out + "plot NaN notitle\n";
}

}  // namespace

std::string panel_script(const RunInput& in, const Prepared& prepared,
                         const std::vector<Solution>& solutions, const std::string& image) {
  check(!solutions.empty(), "there is a solution to plot");
  const auto& g = prepared.geometry();
  const bool pdf = image.ends_with(".pdf");
  const bool scan = solutions.size() > 1;  // has three rows of panels instead of two
  std::string out =
      pdf ? fmt::format("set terminal pdfcairo size 14in,{}in font 'DejaVu Sans,12'\n",
                        scan ? 15 : 10)
          : fmt::format("set terminal pngcairo size 1400,{} font 'DejaVu Sans,12'\n",
                        scan ? 1500 : 1000);
  out += fmt::format("set encoding utf8\nset output {}\n", gnuplot_quoted(image));
  out += map_block("field", g, g.b) + map_block("drift", g, g.drift);
  out += fmt::format("set multiplot layout {},2 margins 0.07,0.90,{},0.95 spacing 0.19,{}\n",
                     scan ? 3 : 2, scan ? 0.05 : 0.07, scan ? 0.09 : 0.13);
  const std::string axes = fmt::format(
      "set xlabel 'ζ/π'; set ylabel 'θ/π' offset 1; unset key\n"
      "set xrange [0:{:.6g}]; set yrange [0:2]; set view map\n"
      "set pm3d interpolate 6,6; set xtics out nomirror; set ytics out nomirror\n",
      2.0 / g.nfp);
  out += axes;
  out +=
      "set title '|B| [T] over one field period'\n"
      "set palette defined (0 '#081d58', 0.25 '#225ea8', 0.5 '#41b6c4', 0.75 '#c7e9b4', 1 "
      "'#ffffd9')\nsplot $field using 1:2:3 with pm3d\n";
  const double range = symmetric_range(g.drift);
  out += fmt::format(
      "set title 'Radial drift factor w'\nset cbrange [{:.6g}:{:.6g}]\n"
      "set palette defined (0 '#b2182b', 0.25 '#f4a582', 0.5 '#f7f7f7', 0.75 '#92c5de', 1 "
      "'#2166ac')\nsplot $drift using 1:2:3 with pm3d\nreset\n",
      -range, range);
  out += scan ? curve_panels(in, g, solutions) : line_panel(g);
  out += summary(in, prepared, solutions);
  return out + "unset multiplot\n";
}

}  // namespace assay::transport
