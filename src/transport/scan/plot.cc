// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/plot.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/gnuplot.h"

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

std::string bars(const Solution& s) {
  std::string out = "$bars << EOD\n";
  const auto row = [&](int x, double value) {
    out += fmt::format("{} {:.8g} {}\n", x, std::max(std::abs(value), 1e-300), value < 0 ? 1 : 0);
  };
  row(0, s.d.d11);
  row(1, s.d.d31);
  row(2, s.d.d13);
  row(3, s.d.d33);
  row(4, s.d.d33_spitzer);
  double least = 1e300, most = 1e-300;
  for (const double v : {s.d.d11, s.d.d31, s.d.d13, s.d.d33, s.d.d33_spitzer}) {
    if (v == 0) continue;
    least = std::min(least, std::abs(v));
    most = std::max(most, std::abs(v));
  }
  out += "EOD\n";
  out +=
      "set title 'Coefficients, absolute values (orange: negative)'\n"
      "set logscale y; set format y '10^{%T}'; set grid ytics lc rgb '#dddddd'\n"
      "set style fill solid 0.85 noborder; set boxwidth 0.6; unset colorbox; unset key\n"
      "set xtics ('D_{11}' 0, 'D_{31}' 1, 'D_{13}' 2, 'D_{33}' 3, 'D_{33}^{Sp}' 4) nomirror\n";
  out += fmt::format("set xrange [-0.6:4.6]; set yrange [{:.3g}:{:.3g}]\n", least / 5, most * 5);
  out +=
      "plot $bars using 1:($3==0?$2:1/0) with boxes lc rgb '#2a6fbb', \\\n"
      "     $bars using 1:($3==1?$2:1/0) with boxes lc rgb '#dd7722', \\\n"
      "     $bars using 1:2:(sprintf('%.3g',$2)) with labels offset 0,0.8\n";
  return out;
}

// D11 and D33_Sp − D33 over ν̂, or over the field where there is one ν̂ only; one curve for each
// value of the other (at most six, spread over the range).
std::string curves(const RunInput& in, const std::vector<Solution>& solutions) {
  const std::size_t n_nu = in.nu_hat.size(), n_field = in.pairs ? 1 : in.field.size();
  const bool over_nu = n_nu > 1;
  const std::size_t points = over_nu ? n_nu : n_field, lines = over_nu ? n_field : n_nu;
  const std::size_t shown = std::min<std::size_t>(lines, 6);
  const char* field_name = in.field_is_er ? "Ê_r" : "Ê_ψ";
  std::string out, plot = "plot ";
  for (std::size_t c = 0; c < shown; ++c) {
    const std::size_t line = shown == 1 ? 0 : c * (lines - 1) / (shown - 1);
    out += fmt::format("$c{} << EOD\n", c);
    for (std::size_t p = 0; p < points; ++p) {
      const auto& s = solutions[over_nu ? p * n_field + line : line * n_field + p];
      out += fmt::format("{:.8g} {:.8g} {:.8g}\n", over_nu ? in.nu_hat[p] : in.field[p],
                         std::abs(s.d.d11), std::abs(s.d.d31));
    }
    out += "EOD\n";
    const double value = over_nu ? in.field[line] : in.nu_hat[line];
    plot += fmt::format(
        "{}$c{} using 1:2 with linespoints lw 2 pt 7 ps 0.5 lc {} title {}", c == 0 ? "" : ", ", c,
        c + 1,
        gnuplot_quoted(in.pairs ? "pairs of ν̂ and field"
                                : fmt::format("{} = {:g}", over_nu ? field_name : "ν̂", value)));
    plot +=
        fmt::format(", $c{} using 1:3 axes x1y2 with lines lw 1.5 dt 2 lc {} notitle", c, c + 1);
  }
  out +=
      fmt::format("set title 'Coefficients: D_{{11}} (solid, left), |D_{{31}}| (dashed, right)'\n");
  out += over_nu ? "set logscale x; set format x '10^{%T}'; set xlabel 'ν̂ [1/m]'\n"
                 : fmt::format("set xlabel '{} [{}]'\n", field_name, in.field_is_er ? "T" : "1/m");
  out +=
      "set logscale y; set format y '10^{%T}'; set ylabel 'D_{11} [1/(m T^2)]'\n"
      "set logscale y2; set format y2 '10^{%T}'; set y2tics; set ytics nomirror\n"
      "set y2label '|D_{31}| [1/T]'; set grid xtics ytics lc rgb '#dddddd'\n"
      "set key inside top center samplen 2 opaque; set autoscale; unset colorbox\n";
  return out + plot + "\n";
}

std::string summary(const RunInput& in, const Prepared& prepared,
                    const std::vector<Solution>& solutions) {
  const auto& g = prepared.geometry();
  double residual = 0, onsager = 0;
  std::vector<std::string> warnings;
  std::set<std::string_view> methods;
  for (const auto& s : solutions) {
    methods.insert(name_of(s.method));
    residual = std::max(residual, s.residual);
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
  std::string out = pdf ? "set terminal pdfcairo size 14in,10in font 'DejaVu Sans,12'\n"
                        : "set terminal pngcairo size 1400,1000 font 'DejaVu Sans,12'\n";
  out += fmt::format("set encoding utf8\nset output {}\n", gnuplot_quoted(image));
  out += map_block("field", g, g.b) + map_block("drift", g, g.drift);
  out += "set multiplot layout 2,2 margins 0.07,0.90,0.07,0.94 spacing 0.17,0.13\n";
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
  out += solutions.size() == 1 ? bars(solutions.front()) : curves(in, solutions);
  out += summary(in, prepared, solutions);
  return out + "unset multiplot\n";
}

}  // namespace assay::transport
