// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/files/result_data.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <set>

#include "base/hash.h"
#include "base/json.h"

namespace assay::transport {
namespace {

Json series_json(const Series& series) {
  Json rows = Json::array();
  for (const auto& h : series) rows.push_back({h.m, h.n, h.cosine, h.sine});
  return rows;
}

void add_case_axes(const RunInput& in, const Geometry& g, DataFile& data) {
  std::vector<double> epsi = in.field, er = in.field;
  for (auto& e : epsi) e = in.field_is_er ? e / g.psi_prime : e;
  for (auto& e : er) e = in.field_is_er ? e : e * g.psi_prime;
  data.variables.push_back(
      {"nu_hat", {in.pairs ? "case" : "nu"}, in.nu_hat, "1/m", "collisionality nu/v"});
  data.variables.push_back(
      {"er_hat", {in.pairs ? "case" : "field"}, er, "T", "radial electric field E_r/v"});
  data.variables.push_back({"epsi_hat",
                            {in.pairs ? "case" : "field"},
                            epsi,
                            "1/m",
                            "electric field in the flux coordinate, E_psi/v = er_hat/psi_prime"});
}

void add_results(const RunInput& in, const std::vector<Solution>& solutions, DataFile& data) {
  const std::vector<std::string> axes =
      in.pairs ? std::vector<std::string>{"case"} : std::vector<std::string>{"nu", "field"};
  const auto add = [&](const char* name, const char* unit, const char* description, auto&& value) {
    Variable v{name, axes, {}, unit, description};
    for (const auto& s : solutions) v.values.push_back(value(s));
    data.variables.push_back(std::move(v));
  };
  add("D11", "1/(m T^2)", "radial transport coefficient", [](const auto& s) { return s.d.d11; });
  add("D31", "1/T", "bootstrap coefficient", [](const auto& s) { return s.d.d31; });
  add("D13", "1/T", "Ware-pinch coefficient; -D31 by Onsager symmetry",
      [](const auto& s) { return s.d.d13; });
  add("D33", "m", "parallel conductivity coefficient", [](const auto& s) { return s.d.d33; });
  add("D33_spitzer", "m", "D33 without trapped particles",
      [](const auto& s) { return s.d.d33_spitzer; });
  add("residual", "1", "root mean square residual of the retained block rows",
      [](const auto& s) { return s.residual; });
  const auto known = [](const Solution& s, double value) { return s.quality.whole ? value : NAN; };
  add("system_residual", "1", "residual of all Legendre rows and both sources, over its terms",
      [=](const auto& s) { return known(s, s.quality.residual); });
  add("D11_error", "1/(m T^2)", "how wrong arithmetic may have left D11 on this grid",
      [=](const auto& s) { return known(s, s.quality.error.d11); });
  add("D31_error", "1/T", "how wrong arithmetic may have left D31 on this grid",
      [=](const auto& s) { return known(s, s.quality.error.d31); });
  add("D13_error", "1/T", "how wrong arithmetic may have left D13 on this grid",
      [=](const auto& s) { return known(s, s.quality.error.d13); });
  add("D33_error", "m", "how wrong arithmetic may have left D33 on this grid",
      [=](const auto& s) { return known(s, s.quality.error.d33); });
  add("legendre_share", "1", "share of the highest Legendre modes in the solution",
      [=](const auto& s) { return known(s, s.quality.legendre_share); });
  add("theta_share", "1", "share of the highest poloidal modes in the solution",
      [=](const auto& s) { return known(s, s.quality.theta_share); });
  add("zeta_share", "1", "share of the highest toroidal modes in the solution",
      [=](const auto& s) { return known(s, s.quality.zeta_share); });
  add("warned", "1", "number of warnings about the case",
      [](const auto& s) { return static_cast<double>(s.warnings.size()); });
  add("onsager", "1", "|D31 + D13| over the larger of the two",
      [](const auto& s) { return s.onsager; });
}

// Grids and error bars, where each case has its own.
void add_resolutions(const RunInput& in, const std::vector<Solution>& solutions, DataFile& data) {
  for (auto& column : resolution_columns(
           in.pairs ? std::vector<std::string>{"case"} : std::vector<std::string>{"nu", "field"},
           solutions)) {
    data.variables.push_back(std::move(column));
  }
}

void add_geometry(const Geometry& g, DataFile& data) {
  const auto scalar = [&](const char* name, double value, const char* unit, const char* text) {
    data.variables.push_back({name, {}, {value}, unit, text});
  };
  scalar("nfp", g.nfp, "1", "field periods");
  scalar("iota", g.iota, "1", "rotational transform");
  scalar("psi_prime", g.psi_prime, "T m", "d psi/d r");
  scalar("B0", g.b0, "T", "reference field B_00");
  scalar("mean_B2", g.mean_b2, "T^2", "flux-surface average of B^2");
  Variable theta{"theta", {"theta"}, {}, "rad", "poloidal angle"};
  for (int i = 0; i < g.grid.n_theta; ++i) {
    theta.values.push_back(2 * std::numbers::pi * i / g.grid.n_theta);
  }
  Variable zeta{"zeta", {"zeta"}, {}, "rad", "toroidal angle over one field period"};
  for (int j = 0; j < g.grid.n_zeta; ++j) {
    zeta.values.push_back(2 * std::numbers::pi * j / (g.grid.n_zeta * g.nfp));
  }
  data.variables.push_back(std::move(theta));
  data.variables.push_back(std::move(zeta));
  const auto field = [&](const char* name, const Field& values, const char* unit,
                         const char* text) {
    data.variables.push_back({name, {"zeta", "theta"}, values, unit, text});
  };
  field("B", g.b, "T", "magnetic field strength");
  field("dB_dtheta", g.db_dtheta, "T", "derivative of B in theta");
  field("dB_dzeta", g.db_dzeta, "T", "derivative of B in zeta");
  field("jacobian", g.jacobian, "m/T", "Jacobian of (psi, theta, zeta)");
  field("B_sub_theta", g.b_sub_theta, "T m", "covariant component of B");
  field("B_sub_zeta", g.b_sub_zeta, "T m", "covariant component of B");
  field("B_sup_theta", g.b_sup_theta, "T/m", "contravariant component of B");
  field("B_sup_zeta", g.b_sup_zeta, "T/m", "contravariant component of B");
  field("drift", g.drift, "1", "radial drift factor -B x grad(psi) . grad(B) / B^3");
}

void add_modes(const Solution& s, DataFile& data) {
  data.dimensions.push_back({"source", 2});
  data.dimensions.push_back({"legendre", 3});
  Variable v{"modes",
             {"source", "legendre", "zeta", "theta"},
             {},
             "m, m T",
             "first three Legendre modes of the distribution for the sources s1 (radial drift) and "
             "s3 (parallel field)"};
  for (const auto& source : s.modes) {
    for (const auto& field : source) v.values.insert(v.values.end(), field.begin(), field.end());
  }
  data.variables.push_back(std::move(v));
}

}  // namespace

std::vector<Variable> resolution_columns(const std::vector<std::string>& axes,
                                         const std::vector<Solution>& solutions) {
  std::vector<Variable> columns;
  const auto add = [&](const char* name, const char* description, auto&& value) {
    Variable v{name, axes, {}, "1", description};
    for (const auto& s : solutions) v.values.push_back(value(s.resolution.value()));
    columns.push_back(std::move(v));
  };
  add("D11_relative_error", "estimated relative error of D11",
      [](const Resolution& r) { return r.error.d11; });
  add("D31_relative_error", "estimated relative error of D31",
      [](const Resolution& r) { return r.error.d31; });
  add("D13_relative_error", "estimated relative error of D13",
      [](const Resolution& r) { return r.error.d13; });
  add("D33_relative_error", "estimated relative error of D33",
      [](const Resolution& r) { return r.error.d33; });
  add("accuracy_reached", "1 where the accuracy was reached",
      [](const Resolution& r) { return r.reached ? 1.0 : 0.0; });
  add("grid_n_theta", "n_theta of the case", [](const Resolution& r) { return r.grid.n_theta; });
  add("grid_n_zeta", "n_zeta of the case", [](const Resolution& r) { return r.grid.n_zeta; });
  add("grid_n_xi", "n_xi of the case", [](const Resolution& r) { return r.grid.n_xi; });
  add("solves", "solves that it took to choose the grid",
      [](const Resolution& r) { return r.solves; });
  return columns;
}

Json resolved_input(const RunInput& in, const Surface& s, const Geometry& g) {
  Json surface = {{"name", s.name},
                  {"type", in.surface.type},
                  {"nfp", s.nfp},
                  {"iota", g.iota},
                  {"psi_prime", s.psi_prime},
                  {"B0", g.b0},
                  {"min_bmn", in.surface.min_bmn},
                  {"B_mn", series_json(s.b)}};
  if (s.vmec) {
    surface["jacobian_mn"] = series_json(s.vmec->jacobian);
    surface["B_sub_theta_mn"] = series_json(s.vmec->b_sub_theta);
    surface["B_sub_zeta_mn"] = series_json(s.vmec->b_sub_zeta);
    surface["B_sup_theta_mn"] = series_json(s.vmec->b_sup_theta);
    surface["B_sup_zeta_mn"] = series_json(s.vmec->b_sup_zeta);
  } else {
    surface["B_theta"] = s.b_theta;
    surface["B_zeta"] = s.b_zeta;
    if (s.handedness != 1) surface["handedness"] = s.handedness;
  }
  if (s.psi_n != 0) surface["psi_n"] = s.psi_n;
  Json resolved = {
      {"surface", surface},
      {"grid", {{"n_theta", in.grid.n_theta}, {"n_zeta", in.grid.n_zeta}, {"n_xi", in.grid.n_xi}}},
      {"case",
       {{"pairs", in.pairs},
        {"nu_hat", in.nu_hat},
        {in.field_is_er ? "er_hat" : "epsi_hat", in.field}}},
      {"solver", {{"method", name_of(in.method)}, {"adjoint_consistent", in.adjoint_consistent}}}};
  if (in.accuracy > 0) resolved["accuracy"] = in.accuracy;
  return resolved;
}

DataFile result_data(const RunInput& in, const Surface& surface, const Prepared& prepared,
                     const std::vector<Solution>& solutions) {
  const auto& g = prepared.geometry();
  DataFile data;
  if (in.pairs) {
    data.dimensions = {{"case", in.nu_hat.size()}};
  } else {
    data.dimensions = {{"nu", in.nu_hat.size()}, {"field", in.field.size()}};
  }
  data.dimensions.push_back({"theta", static_cast<std::size_t>(g.grid.n_theta)});
  data.dimensions.push_back({"zeta", static_cast<std::size_t>(g.grid.n_zeta)});
  add_case_axes(in, g, data);
  add_results(in, solutions, data);
  if (in.accuracy > 0) add_resolutions(in, solutions, data);
  add_geometry(g, data);
  if (in.include_modes && solutions.size() == 1) add_modes(solutions.front(), data);

  const auto resolved = canonical_json(resolved_input(in, surface, g));
  std::set<std::string> warnings, notes, methods;
  for (const auto& s : solutions) {
    warnings.insert(s.warnings.begin(), s.warnings.end());
    notes.insert(s.notes.begin(), s.notes.end());
    methods.insert(std::string(name_of(s.method)));
  }
  data.texts = {{"input", in.text},
                {"resolved_input", resolved},
                {"resolved_input_sha256", sha256_hex(resolved)},
                {"warnings", fmt::format("{}", fmt::join(warnings, "; "))},
                {"notes", fmt::format("{}", fmt::join(notes, "; "))},
                {"method", fmt::format("{}", fmt::join(methods, ", "))},
                {"title", "monoenergetic transport coefficients (DKES normalisation)"}};
  data.numbers = {{"n_xi", g.grid.n_xi}};
  return data;
}

}  // namespace assay::transport
