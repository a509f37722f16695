// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "base/gnuplot.h"
#include "base/units.h"
#include "cli/engines/transport_commands.h"
#include "transport/quality.h"
#include "transport/scan/plot.h"

namespace assay::cli {

namespace tr = assay::transport;

namespace {

constexpr std::size_t kMostLines = 12;  // of warnings below a table

// Correct digits of D11/D31/D13/D33.
std::string digits_text(const tr::Solution& s) {
  return s.quality.whole ? fmt::format("{}", fmt::join(tr::correct_digits(s), "/")) : "?";
}

// "0.12%", of an error that is not known "?".
std::string percent_text(double share) {
  if (std::isnan(share)) return "?";
  return share < 1e-5 ? "<0.001%" : fmt::format("{:.2g}%", 100 * share);
}

// What follows the coefficients in a row of the table, and its head.
constexpr const char* kPlainHead = " residual   onsager      digits";
std::string plain_tail(const tr::Solution& s) {
  return fmt::format("{:>9.1e} {:>9.1e} {:>11}", tr::residual(s), s.onsager, digits_text(s));
}
constexpr const char* kResolvedHead = "      errors D11/D31/D13/D33         grid  solves";
std::string resolved_tail(const tr::Resolution& r) {
  const auto& e = r.error;
  const auto errors = fmt::format("{}/{}/{}/{}", percent_text(e.d11), percent_text(e.d31),
                                  percent_text(e.d13), percent_text(e.d33));
  const auto grid = fmt::format("{}x{}x{}", r.grid.n_theta, r.grid.n_zeta, r.grid.n_xi);
  return fmt::format("{:>28} {:>12} {:>7}", errors, grid, r.solves);
}

}  // namespace

std::string run_text(const tr::RunInput& in, const tr::Prepared& prepared,
                     const std::vector<tr::Solution>& solutions, const RunTimes& times,
                     const std::vector<std::string>& written,
                     std::optional<tr::Normalisation> normalisation) {
  const auto& g = prepared.geometry();
  const bool resolved = in.accuracy > 0;
  const auto chosen =
      resolved ? fmt::format("s chosen for an accuracy of {:g} %, at most", 100 * in.accuracy) : "";
  std::string out = fmt::format(
      "surface {}: nfp {}, iota {:.6g}, psi' {:.6g} T m, B0 {:.6g} T\ngrid{} {} x {} x {}\n",
      prepared.name(), g.nfp, g.iota, g.psi_prime, g.b0, chosen, g.grid.n_theta, g.grid.n_zeta,
      g.grid.n_xi);
  out += fmt::format("{:>10} {:>10}  {:>13} {:>13} {:>13} {:>13} {:>13} {}  {}\n", "nu_hat",
                     in.field_is_er ? "er_hat" : "epsi_hat", "D11", "D31", "D13", "D33", "D33_Sp",
                     resolved ? kResolvedHead : kPlainHead, "method");
  // Said once, with the number of cases that it is true of.
  std::vector<std::pair<std::string, int>> warnings;
  auto notes = prepared.notes();
  for (std::size_t i = 0; i < solutions.size(); ++i) {
    const auto& s = solutions[i];
    out += fmt::format(
        "{:>10.4g} {:>10.4g}  {:>13.6g} {:>13.6g} {:>13.6g} {:>13.6g} {:>13.6g} {}  {}{}\n",
        s.at.nu_hat, in.field[i % in.field.size()], s.d.d11, s.d.d31, s.d.d13, s.d.d33,
        s.d.d33_spitzer, s.resolution ? resolved_tail(*s.resolution) : plain_tail(s),
        tr::name_of(s.method), s.warnings.empty() ? "" : "  !");
    for (const auto& w : s.warnings) {
      const auto it = std::ranges::find(warnings, w, &std::pair<std::string, int>::first);
      if (it == warnings.end()) {
        warnings.emplace_back(w, 1);
      } else {
        ++it->second;
      }
    }
    for (const auto& note : s.notes) notes.push_back(note);
  }
  if (normalisation) {
    out += fmt::format("as {}: {}\n{:>10} {:>10}  {:>13} {:>13} {:>13} {:>13}\n",
                       tr::name_of(*normalisation), tr::description_of(*normalisation), "nu_hat",
                       in.field_is_er ? "er_hat" : "epsi_hat", "11", "31", "13", "33");
    for (std::size_t i = 0; i < solutions.size(); ++i) {
      const auto d = tr::normalised(solutions[i].d, g, *normalisation);
      out += fmt::format("{:>10.4g} {:>10.4g}  {:>13.6g} {:>13.6g} {:>13.6g} {:>13.6g}\n",
                         solutions[i].at.nu_hat, in.field[i % in.field.size()], d.d11, d.d31, d.d13,
                         d.d33);
    }
  }
  if (resolved) {
    out +=
        "errors: of D31 and D13 relative to them, or to sqrt(D11*D33)/100 where that is larger\n";
  }
  const std::size_t shown = std::min(warnings.size(), kMostLines);
  for (const auto& [w, count] : std::span(warnings).first(shown)) {
    out += fmt::format("warning: {}{}\n", w, count > 1 ? fmt::format(" ({} cases)", count) : "");
  }
  if (warnings.size() > shown) {
    out += fmt::format("warning: and {} more; --json has them case by case\n",
                       warnings.size() - shown);
  }
  for (const auto& note : std::span(notes).first(std::min(notes.size(), kMostLines))) {
    out += "note: " + note + "\n";
  }
  for (const auto& w : written) out += "wrote " + w + "\n";
  for (const auto& [name, seconds] :
       std::initializer_list<std::pair<const char*, double>>{{"prepare", times.prepare_s},
                                                             {"solve", times.solve_s},
                                                             {"write", times.write_s},
                                                             {"plot", times.plot_s}}) {
    if (seconds > 0) out += fmt::format("{} {}, ", name, format_seconds(seconds));
  }
  out += fmt::format("total {}\n", format_seconds(times.total_s));
  return out;
}

Json run_json(const tr::RunInput& in, const std::vector<tr::Solution>& solutions,
              const RunTimes& times, double memory,
              const std::map<std::string, std::string>& provenance, const tr::Geometry& g,
              std::optional<tr::Normalisation> normalisation) {
  const auto case_json = [&](const tr::Solution& s) {
    Json json = tr::solution_to_json(s);
    if (normalisation) {
      const auto d = tr::normalised(s.d, g, *normalisation);
      json["normalised"] = {
          {"as", tr::name_of(*normalisation)}, {"description", tr::description_of(*normalisation)},
          {"11", number_to_json(d.d11)},       {"31", number_to_json(d.d31)},
          {"13", number_to_json(d.d13)},       {"33", number_to_json(d.d33)}};
    }
    return json;
  };
  const Json timings = {{"prepare", times.prepare_s},
                        {"solve", times.solve_s},
                        {"write", times.write_s},
                        {"plot", times.plot_s},
                        {"total", times.total_s}};
  if (!in.scan) {
    Json json = case_json(solutions.front());
    json["timings"] = timings;
    json["peak_memory"] = number_to_json(memory);
    json["provenance"] = provenance;
    return json;
  }
  Json cases = Json::array();
  for (const auto& s : solutions) cases.push_back(case_json(s));
  return {{"cases", cases},
          {"timings", timings},
          {"peak_memory", number_to_json(memory)},
          {"provenance", provenance}};
}

std::string image_beside(const std::string& output) {
  return std::filesystem::path(output).replace_extension(".png").string();
}

std::string draw_panel(const tr::RunInput& in, const tr::Prepared& prepared,
                       const std::vector<tr::Solution>& solutions, const std::string& output) {
  const auto image = image_beside(output);
  run_gnuplot(tr::panel_script(in, prepared, solutions, image), image);
  return image;
}

}  // namespace assay::cli
