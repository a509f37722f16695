// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/files/database_columns.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "transport/files/result_data.h"

namespace assay::transport {
namespace {

const std::vector<Variable>& declared() {
  static const std::vector<std::string> kCase = {"rho", "nu_v", "Er_tilde"};
  static const std::vector<std::string> kField = {"rho", "Er_tilde"};
  static const std::vector<std::string> kSurface = {"rho"};
  static const std::vector<Variable> kColumns = {
      {"rho", kSurface, {}, "1", "square root of the normalised toroidal flux"},
      {"D11", kCase, {}, "m/T^2", "radial coefficient in s = psi/psi_a; times drds^2 in r"},
      {"D13", kCase, {}, "1/T", "Ware-pinch coefficient in s; times drds in r"},
      {"D33", kCase, {}, "m", "parallel coefficient"},
      {"D33_spitzer", kCase, {}, "m", "D33 without trapped particles"},
      {"D31", kCase, {}, "1/T", "bootstrap coefficient in s; times drds in r"},
      {"Er", kField, {}, "T", "radial electric field E_r/v"},
      {"Es", kField, {}, "T m", "electric field in s, E_s/v"},
      {"Er_to_Ertilde", kField, {}, "1", "1/(dr_tilde/dr)"},
      {"drds", kSurface, {}, "m", "dr/ds, r = a_b rho, s = rho^2"},
      {"dr_tildedr", kSurface, {}, "1", "dr_tilde/dr = 2 psia/(a_b^2 B00)"},
      {"dr_tildeds", kSurface, {}, "m", "dr_tilde/ds"},
      {"B00", kSurface, {}, "T", "mean of B over Boozer's angles"},
      {"R00", kSurface, {}, "m", "mean of R over Boozer's angles"},
      {"iota", kSurface, {}, "1", "rotational transform, as in the equilibrium"},
      {"I", kSurface, {}, "T m", "covariant poloidal component in Boozer's angles"},
      {"G", kSurface, {}, "T m", "covariant toroidal component in Boozer's angles"},
      {"Fac_REFERENCE_TO_SFINCS_11", kSurface, {}, "1", "D11 in s to SFINCS' L11"},
      {"Fac_REFERENCE_TO_SFINCS_31", kSurface, {}, "1", "D31 in s to SFINCS' L31"},
      {"Fac_REFERENCE_TO_SFINCS_33", kSurface, {}, "1", "D33 to SFINCS' L33"},
      {"Fac_MONKES_TO_SFINCS_11", kSurface, {}, "1", "the same as Fac_REFERENCE_TO_SFINCS_11"},
      {"Fac_MONKES_TO_SFINCS_31", kSurface, {}, "1", "the same as Fac_REFERENCE_TO_SFINCS_31"},
      {"Fac_MONKES_TO_SFINCS_33", kSurface, {}, "1", "the same as Fac_REFERENCE_TO_SFINCS_33"},
      {"Fac_SFINCS_TO_DKES_11", kSurface, {}, "1", "SFINCS' L11 to DKES' in r_tilde"},
      {"Fac_SFINCS_TO_DKES_31", kSurface, {}, "1", "SFINCS' L31 to DKES' in r_tilde"},
      {"Fac_SFINCS_TO_DKES_33", kSurface, {}, "1", "SFINCS' L33 to DKES'"},
      {"Fac_DKES_TO_D11star", kSurface, {}, "1", "DKES' D11 to the plateau's of a tokamak"},
      {"Fac_DKES_TO_D31star", kSurface, {}, "1", "DKES' D31 to the banana value of a tokamak"},
      {"residual", kSurface, {}, "1", "largest residual of the surface's cases"}};
  return kColumns;
}

}  // namespace

DatabaseRadius::DatabaseRadius(double of_rho, const VmecFacts& facts)
    : rho(of_rho),
      a(facts.volume_radius),
      b00(facts.b00),
      drds(a / (2 * rho)),
      dr_tilde_dr(2 * facts.psi_edge / (a * a * b00)),
      dr_tilde_ds(dr_tilde_dr * drds) {}

DatabaseColumns::DatabaseColumns(std::vector<double> nu_v, std::vector<double> er_tilde)
    : columns_(declared()), nu_v_(std::move(nu_v)), er_tilde_(std::move(er_tilde)) {}

Variable& DatabaseColumns::find(const std::string& name) {
  const auto it = std::ranges::find(columns_, name, &Variable::name);
  check(it != columns_.end(), "a column is declared before it is filled");
  return *it;
}

void DatabaseColumns::add(const DatabaseRadius& radius, const VmecFacts& facts,
                          const std::vector<Solution>& solutions, double ds_factor) {
  const auto put = [this](const std::string& name, double value) {
    find(name).values.push_back(value);
  };
  if (!solutions.empty() && solutions.front().resolution) {
    for (auto& column : resolution_columns({"rho", "nu_v", "Er_tilde"}, solutions)) {
      const auto it = std::ranges::find(columns_, column.name, &Variable::name);
      if (it == columns_.end()) {
        columns_.push_back(std::move(column));
      } else {
        it->values.insert(it->values.end(), column.values.begin(), column.values.end());
      }
    }
  }
  double residual = 0;
  for (const auto& s : solutions) {
    put("D11", s.d.d11 * ds_factor * ds_factor);
    put("D13", s.d.d13 * ds_factor);
    put("D33", s.d.d33);
    put("D33_spitzer", s.d.d33_spitzer);
    put("D31", s.d.d31 * ds_factor);
    residual = std::max(residual, s.residual);
  }
  for (const double e : er_tilde_) {
    put("Er", radius.er(e));
    put("Es", radius.es(e));
    put("Er_to_Ertilde", 1 / radius.dr_tilde_dr);
  }
  put("rho", radius.rho);
  put("drds", radius.drds);
  put("dr_tildedr", radius.dr_tilde_dr);
  put("dr_tildeds", radius.dr_tilde_ds);
  put("B00", facts.b00);
  put("R00", facts.r00);
  put("iota", facts.iota);
  put("I", facts.boozer_i);
  put("G", facts.boozer_g);
  put("residual", residual);

  // Landreman's and Smith's factors between the codes' normalisations; ψ' of r̃ is r̃·B00, which NTX
  // takes at r̃ = aρ.
  const double root_pi = std::sqrt(std::numbers::pi);
  const double g = facts.boozer_g, current = g + facts.iota * facts.boozer_i, b = facts.b00;
  const double slope = radius.rho * radius.a * b;
  for (const char* code : {"REFERENCE", "MONKES"}) {
    const auto factor = fmt::format("Fac_{}_TO_SFINCS_", code);
    put(factor + "11", 8 * current * b * facts.psi_edge * facts.psi_edge / (root_pi * g * g));
    put(factor + "31", 4 * b * facts.psi_edge / (root_pi * g));
    put(factor + "33", -2 * b / (current * root_pi));
  }
  put("Fac_SFINCS_TO_DKES_11", g * g * b * root_pi / (8 * current * slope * slope));
  put("Fac_SFINCS_TO_DKES_31", g * root_pi / (4 * slope));
  put("Fac_SFINCS_TO_DKES_33", -current * root_pi / (2 * b));
  put("Fac_DKES_TO_D11star", -8 / std::numbers::pi * facts.iota * facts.r00);
  put("Fac_DKES_TO_D31star",
      -1.5 / 1.46 * facts.iota * std::sqrt(radius.rho * radius.a / facts.r00));
  minor_radius_ = radius.a;
  psi_edge_ = facts.psi_edge;
}

DataFile DatabaseColumns::take() {
  DataFile data;
  data.dimensions = {
      {"rho", find("rho").values.size()}, {"nu_v", nu_v_.size()}, {"Er_tilde", er_tilde_.size()}};
  data.variables = std::move(columns_);
  data.variables.push_back({"nu_v", {"nu_v"}, nu_v_, "1/m", "collisionality nu/v"});
  data.variables.push_back(
      {"Er_tilde", {"Er_tilde"}, er_tilde_, "1", "electric field in units of B00 dr_tilde/dr"});
  data.variables.push_back({"Fac_DKES_TO_D33star", {}, {1}, "1", "DKES' D33 is its own star"});
  data.numbers = {{"a_b", minor_radius_}, {"psia", psi_edge_}};
  data.integers = {{"format_version", 2}};
  return data;
}

}  // namespace assay::transport
