// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/gnuplot.h"
#include "cli/commands.h"
#include "cli/engines/transport_commands.h"
#include "transport/files/equilibrium.h"
#include "transport/files/profile_data.h"
#include "transport/profiles/plot.h"

namespace assay::cli {
namespace {

namespace tr = assay::transport;

// The tables that the input asks for, solved here.
std::vector<tr::CoefficientTable> solved_tables(const TransportArguments& a,
                                                const tr::ProfilesInput& in,
                                                std::vector<std::string>& warnings) {
  std::vector<tr::CoefficientTable> tables;
  for (const auto& at : in.surfaces) {
    const auto surface = tr::load_surface(at.surface);
    tr::ScanOptions options;
    if (!a.method.empty()) options.method = tr::method_from_name(a.method);
    const auto cases = in.nu_hat.size() * in.er_hat.size();
    const auto lanes = lanes_that_fit(in.grid, options.method, false, a.threads, cases);
    options.threads = lanes.count;
    options.whole_system = lanes.whole_system;
    if (a.verbose) {
      std::fputs(fmt::format("rho {:g}: {} cases on '{}'\n", at.rho, cases, surface.name).c_str(),
                 stderr);
    }
    tables.push_back(tr::make_table(surface, in.grid, at.rho, at.rho * in.minor_radius.value(),
                                    in.nu_hat, in.er_hat, options, warnings));
  }
  return tables;
}

std::string roots_text(const tr::RadiusAnswer& a) {
  if (!a.search.determined) return "not determined (symmetric field)";
  std::string out;
  for (const auto& root : a.search.roots) {
    out += fmt::format("{}{:.4g} kV/m {}", out.empty() ? "" : ", ", 1e-3 * root.er,
                       tr::name_of(root.kind));
  }
  return out.empty() ? "none in range" : out;
}

std::string answers_text(const tr::ProfilesInput& in,
                         const std::vector<tr::RadiusAnswer>& answers) {
  std::string out =
      "Fluxes r outward, flows and <j.B> along b; (plain): without momentum correction.\n"
      "   rho  species      Gamma [1/(m2 s)]      (plain)    Q [W/m2]     (plain)   u_par [m/s]    "
      " "
      "(plain)\n";
  for (const auto& a : answers) {
    for (std::size_t s = 0; s < a.species.size() && !a.fluxes.plain.species.empty(); ++s) {
      const auto &c = a.fluxes.corrected.species[s], &p = a.fluxes.plain.species[s];
      out += fmt::format(
          "{:6.4g}  {:<10} {:>18.5g} {:>12.5g} {:>11.5g} {:>11.5g} {:>13.5g} {:>11.5g}\n", a.rho,
          a.species[s].name, c.particles, p.particles, c.heat, p.heat, c.flow, p.flow);
    }
  }
  out +=
      "\n   rho   E_r [V/m]   <j.B> [A T/m2]      (plain)   J_r/sum|qG|  Laguerre    table  "
      "outside  "
      "roots of J_r\n";
  for (const auto& a : answers) {
    const auto& f = a.fluxes;
    const double scale = f.corrected.radial_scale;
    out += fmt::format(
        "{:6.4g} {:>11.5g} {:>16.6g} {:>12.6g} {:>13.1e} {:>9.1e} {:>8.1e} {:>7.2f}%  {}\n", a.rho,
        a.er, f.corrected.parallel_current, f.plain.parallel_current,
        scale > 0 ? f.corrected.radial_current / scale : 0, a.laguerre_change, a.table_change,
        100 * f.outside_share, roots_text(a));
  }
  out += fmt::format(
      "Coulomb logarithm {:.4g} to {:.4g}{}; {} Laguerre terms; Laguerre, table: change of fluxes "
      "by "
      "one term fewer, by every second nu_hat left out; roots {}\n",
      answers.front().coulomb_logarithm, answers.back().coulomb_logarithm,
      in.coulomb_logarithm ? " (given)" : "", in.laguerre_terms,
      in.search.corrected ? "with momentum correction" : "without momentum correction");
  return out;
}

Json answer_json(const tr::RadiusAnswer& a) {
  Json species = Json::array(), roots = Json::array();
  for (std::size_t s = 0; s < a.species.size(); ++s) {
    const auto& at = a.species[s];
    Json one = {{"name", at.name},
                {"density", at.density},
                {"temperature_eV", at.temperature / tr::kElementaryCharge}};
    if (!a.fluxes.plain.species.empty()) {
      const auto put = [&](const char* key, const tr::SpeciesFluxes& f) {
        one[key] = {{"particle_flux", number_to_json(f.particles)},
                    {"heat_flux", number_to_json(f.heat)},
                    {"parallel_flow", number_to_json(f.flow)}};
      };
      put("momentum_corrected", a.fluxes.corrected.species[s]);
      put("plain", a.fluxes.plain.species[s]);
      Json rows = Json::array();
      for (const auto& row : a.fluxes.l[s]) {
        rows.push_back(
            Json{number_to_json(row[0]), number_to_json(row[1]), number_to_json(row[2])});
      }
      one["L"] = rows;
    }
    species.push_back(one);
  }
  for (const auto& r : a.search.roots) {
    roots.push_back(
        {{"er", r.er}, {"dJr_dEr", r.slope}, {"stable", r.stable}, {"kind", tr::name_of(r.kind)}});
  }
  const auto& f = a.fluxes;
  return {{"rho", a.rho},
          {"r", a.r},
          {"coulomb_logarithm", a.coulomb_logarithm},
          {"er", number_to_json(a.er)},
          {"bootstrap_jB", number_to_json(f.corrected.parallel_current)},
          {"bootstrap_jB_plain", number_to_json(f.plain.parallel_current)},
          {"radial_current", number_to_json(f.corrected.radial_current)},
          {"radial_current_plain", number_to_json(f.plain.radial_current)},
          {"species", species},
          {"er_determined", a.search.determined},
          {"relative_radial_current", number_to_json(a.search.relative_current)},
          {"roots", roots},
          {"outside_share", f.outside_share},
          {"quadrature_error", number_to_json(f.quadrature_error)},
          {"onsager_error", number_to_json(f.onsager_error)},
          {"laguerre_change", number_to_json(a.laguerre_change)},
          {"table_change", number_to_json(a.table_change)},
          {"warnings", a.warnings}};
}

}  // namespace

int transport_profiles(const TransportArguments& a) {
  const auto in = tr::read_profiles(a.input);
  if (!a.output.empty()) tr::check_data_path(a.output);
  if (a.plot && a.output.empty()) fail("--plot needs --output, whose name the image takes");
  if (a.database.empty() == in.surfaces.empty()) {
    fail("{}: coefficients come from --database or from [[surface]], {}", a.input,
         in.surfaces.empty() ? "neither was given" : "not from both");
  }
  if (!a.database.empty() && (a.threads || !a.method.empty())) {
    fail("with --database nothing is solved: --{}", a.threads ? "threads" : "method");
  }
  std::vector<std::string> warnings, files = {a.input};
  for (const auto& at : in.surfaces) {
    const auto more = tr::files_of(at.surface);
    files.insert(files.end(), more.begin(), more.end());
  }
  if (!a.database.empty()) files.push_back(a.database);
  if (!a.output.empty()) refuse_overwriting({a.output, image_beside(a.output)}, files);
  const auto tables =
      a.database.empty() ? solved_tables(a, in, warnings) : tr::read_database(a.database, in.rho);
  std::vector<tr::RadiusAnswer> answers;
  for (const auto& table : tables) answers.push_back(tr::answer(in, table));
  for (const auto& one : answers) {
    warnings.insert(warnings.end(), one.warnings.begin(), one.warnings.end());
  }

  const auto provenance = provenance_texts(files);
  std::vector<std::string> written;
  if (!a.output.empty()) {
    const Uninterrupted writing;
    auto data = tr::profile_data(in, answers);
    data.texts.insert(provenance.begin(), provenance.end());
    tr::write_data_file(a.output, data);
    written.push_back(a.output);
  }
  if (a.plot) {
    const auto image = image_beside(a.output);
    run_gnuplot(tr::profiles_script(in, answers, warnings.size(), image), image);
    written.push_back(image);
  }
  if (a.json) {
    Json radii = Json::array();
    for (const auto& one : answers) radii.push_back(answer_json(one));
    const Json json = {{"radii", radii},
                       {"laguerre_terms", in.laguerre_terms},
                       {"warnings", warnings},
                       {"provenance", provenance}};
    std::fputs((pretty_json(json) + "\n").c_str(), stdout);
  } else {
    std::fputs(answers_text(in, answers).c_str(), stdout);
    for (const auto& w : warnings) std::fputs(fmt::format("warning: {}\n", w).c_str(), stdout);
    for (const auto& name : written) std::fputs(fmt::format("wrote {}\n", name).c_str(), stdout);
  }
  return status_of(a, !warnings.empty());
}

}  // namespace assay::cli
