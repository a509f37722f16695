// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/plot.h"

#include <array>
#include <cmath>

#include "base/error.h"
#include "base/gnuplot.h"

namespace assay::transport {
namespace {

constexpr std::array<const char*, 6> kColours = {"#2a6fbb", "#dd7722", "#2e8b57",
                                                 "#a03070", "#7a6a00", "#555555"};

std::string colour(std::size_t i) { return kColours[i % kColours.size()]; }

template <typename Row>
std::string block(const std::string& name, const std::vector<RadiusAnswer>& answers, Row row) {
  std::string out = fmt::format("${} << EOD\n", name);
  for (const auto& a : answers) out += row(a);
  return out + "EOD\n";
}

// One panel whose curves are columns of one block, plain ones dashed.
struct CurveList {
  std::string plot;
  void add(const std::string& data, const std::string& columns, const std::string& style,
           const std::string& title) {
    plot +=
        fmt::format("{}${} using {} with {} {}", plot.empty() ? "plot " : ", \\\n     ", data,
                    columns, style, title.empty() ? "notitle" : "title " + gnuplot_quoted(title));
  }
};

std::string flux_panel(const ProfilesInput& in, const std::vector<RadiusAnswer>& answers) {
  std::string out = block("flux", answers, [&](const RadiusAnswer& a) {
    if (a.fluxes.corrected.species.empty()) return std::string();
    std::string line = fmt::format("{:.8g}", a.rho);
    for (std::size_t s = 0; s < in.species.size(); ++s) {
      const auto &c = a.fluxes.corrected.species[s], &p = a.fluxes.plain.species[s];
      line += fmt::format(" {:.8g} {:.8g} {:.8g}", 1e-18 * c.particles, 1e-18 * p.particles,
                          1e-3 * c.heat);
    }
    return line + "\n";
  });
  CurveList curves;
  for (std::size_t s = 0; s < in.species.size(); ++s) {
    const auto c = colour(s);
    curves.add("flux", fmt::format("1:{}", 2 + 3 * s),
               fmt::format("linespoints lw 2 pt 7 ps 0.6 lc rgb '{}'", c),
               "Γ " + in.species[s].name);
    curves.add("flux", fmt::format("1:{}", 3 + 3 * s),
               fmt::format("lines lw 1.5 dt 2 lc rgb '{}'", c), "");
    curves.add("flux", fmt::format("1:{} axes x1y2", 4 + 3 * s),
               fmt::format("linespoints lw 1 pt 4 ps 0.8 lc rgb '{}'", c),
               "Q " + in.species[s].name + " (right)");
  }
  out +=
      "set title 'Fluxes, r outward (dashed: Γ without momentum correction)'\n"
      "set ylabel 'Γ [10^{18}/(m^2 s)]'; set y2label 'Q [kW/m^2]'; set ytics nomirror; set "
      "y2tics\n";
  return out + curves.plot + "\nunset y2tics; unset y2label; set ytics mirror\n";
}

std::string current_panel(const std::vector<RadiusAnswer>& answers) {
  std::string out = block("current", answers, [](const RadiusAnswer& a) {
    if (a.fluxes.corrected.species.empty()) return std::string();
    return fmt::format("{:.8g} {:.8g} {:.8g}\n", a.rho, 1e-3 * a.fluxes.corrected.parallel_current,
                       1e-3 * a.fluxes.plain.parallel_current);
  });
  return out +
         "set title 'Parallel current, along b'\nset ylabel '<j·B> [kA T/m^2]'\n"
         "plot $current using 1:2 with linespoints lw 2 pt 7 ps 0.6 lc rgb '#2a6fbb' title "
         "'momentum conserved', \\\n"
         "     $current using 1:3 with linespoints lw 1.5 dt 2 pt 6 ps 0.6 lc rgb '#dd7722' title "
         "'Lorentz operator'\n";
}

std::string root_panel(const ProfilesInput& in, const std::vector<RadiusAnswer>& answers) {
  std::string out;
  const std::array<std::pair<RootKind, const char*>, 3> kinds = {
      {{RootKind::kIon, "pt 7 ps 1.1 lc rgb '#2a6fbb'"},
       {RootKind::kUnstable, "pt 2 ps 1 lc rgb '#999999'"},
       {RootKind::kElectron, "pt 5 ps 1 lc rgb '#dd7722'"}}};
  CurveList curves;
  for (const auto& [kind, style] : kinds) {
    const auto name = "root_" + std::string(name_of(kind));
    bool any = false;
    out += block(name, answers, [&, wanted = kind](const RadiusAnswer& a) {
      std::string rows;
      for (const auto& root : a.search.roots) {
        if (root.kind == wanted) rows += fmt::format("{:.8g} {:.8g}\n", a.rho, 1e-3 * root.er);
      }
      any = any || !rows.empty();
      return rows;
    });
    if (any) {
      const auto title = std::string(name_of(kind)) + (kind == RootKind::kUnstable ? "" : " root");
      curves.add(name, "1:2", std::string("points ") + style, title);
    }
  }
  out += block("chosen", answers, [](const RadiusAnswer& a) {
    return std::isnan(a.er) ? std::string() : fmt::format("{:.8g} {:.8g}\n", a.rho, 1e-3 * a.er);
  });
  curves.add("chosen", "1:2", "lines lw 1.5 lc rgb '#333333'", "of the fluxes");
  out += fmt::format("set title 'Radial field: roots of J_r ({})'\nset ylabel 'E_r [kV/m]'\n",
                     in.search.corrected ? "momentum conserved" : "Lorentz operator");
  return out + curves.plot + "\n";
}

std::string profile_panel(const ProfilesInput& in, const std::vector<RadiusAnswer>& answers) {
  std::string out = block("profile", answers, [](const RadiusAnswer& a) {
    std::string line = fmt::format("{:.8g}", a.rho);
    for (const auto& s : a.species) {
      line += fmt::format(" {:.8g} {:.8g}", 1e-20 * s.density,
                          1e-3 * s.temperature / kElementaryCharge);
    }
    return line + "\n";
  });
  CurveList curves;
  for (std::size_t s = 0; s < in.species.size(); ++s) {
    const auto& name = in.species[s].name;
    curves.add("profile", fmt::format("1:{}", 3 + 2 * s),
               fmt::format("linespoints lw 2 pt 7 ps 0.6 lc rgb '{}'", colour(s)), "T " + name);
    curves.add("profile", fmt::format("1:{} axes x1y2", 2 + 2 * s),
               fmt::format("linespoints lw 1.5 dt 4 pt 6 ps 0.6 lc rgb '{}'", colour(s)),
               "n " + name + " (right)");
  }
  out +=
      "set title 'Profiles'\nset ylabel 'T [keV]'; set y2label 'n [10^{20}/m^3]'\n"
      "set ytics nomirror; set y2tics; set yrange [0:*]; set y2range [0:*]\n";
  return out + curves.plot + "\n";
}

}  // namespace

std::string profiles_script(const ProfilesInput& in, const std::vector<RadiusAnswer>& answers,
                            std::size_t warnings, const std::string& image) {
  check(!answers.empty(), "there is an answer to plot");
  std::string out = image.ends_with(".pdf")
                        ? "set terminal pdfcairo size 14in,10in font 'DejaVu Sans,12'\n"
                        : "set terminal pngcairo size 1400,1000 font 'DejaVu Sans,12'\n";
  out += fmt::format("set encoding utf8\nset output {}\n", gnuplot_quoted(image));
  if (warnings > 0) {
    out += fmt::format(
        "set label 1 '{} {}: the printed table has {}' at screen 0.99,0.012 right tc rgb "
        "'#b2182b'\n",
        warnings, warnings == 1 ? "warning" : "warnings", warnings == 1 ? "it" : "them");
  }
  out +=
      "set multiplot layout 2,2 margins 0.07,0.93,0.13,0.95 spacing 0.19,0.21\n"
      "set xlabel 'ρ' offset 0,0.4; set xrange [0:1]; set grid lc rgb '#cccccc'\n"
      "set key at graph 0.5,-0.165 center top horizontal maxcols 4 samplen 2\n"
      "set xzeroaxis lc rgb '#888888'\n";
  out += flux_panel(in, answers) + current_panel(answers) + root_panel(in, answers) +
         profile_panel(in, answers);
  return out + "unset multiplot\n";
}

}  // namespace assay::transport
