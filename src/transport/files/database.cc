// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/files/database.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.h"
#include "base/error.h"
#include "transport/files/equilibrium.h"

namespace assay::transport {
namespace {

void check_axis(const std::vector<double>& values, const char* name) {
  if (values.empty()) fail("{} needs at least one value", name);
  for (const double v : values) {
    if (!std::isfinite(v)) fail("{} must be finite, got {}", name, v);
  }
}

double seconds_since(std::int64_t begin) {
  return 1e-9 * static_cast<double>(monotonic_ns() - begin);
}

// The factors between the radial coordinates: r = aρ, s = ρ², and r̃ with ψ = B00·r̃²/2.
//   dr/ds = a/(2ρ),  dr̃/dr = 2ψ_a/(a² B00),  E_r = Ẽ_r·(dr̃/dr)·B00,  E_s = Ẽ_r·(dr̃/ds)·B00
struct Radial {
  double drds = 0, dr_tilde_dr = 0, dr_tilde_ds = 0;

  Radial(double rho, double minor_radius, double psi_edge, double b00)
      : drds(minor_radius / (2 * rho)),
        dr_tilde_dr(2 * psi_edge / (minor_radius * minor_radius * b00)),
        dr_tilde_ds(dr_tilde_dr * drds) {}
};

// Collects what is known of every surface, then lays it out.
class Columns {
 public:
  void add(const char* name, std::vector<std::string> dimensions, const char* unit,
           const char* description) {
    data_.push_back({name, std::move(dimensions), {}, unit, description});
  }
  void put(const std::string& name, double value) { find(name).values.push_back(value); }
  std::vector<Variable> take() { return std::move(data_); }

 private:
  Variable& find(const std::string& name) {
    const auto it = std::ranges::find(data_, name, &Variable::name);
    check(it != data_.end(), "a column is declared before it is filled");
    return *it;
  }
  std::vector<Variable> data_;
};

Columns declare() {
  Columns c;
  for (const char* name : {"D11", "D13", "D33", "D33_spitzer", "D31"}) {
    const bool radial = std::string_view(name) == "D11";
    const bool mixed = std::string_view(name) == "D13" || std::string_view(name) == "D31";
    c.add(name, {"rho", "nu_v", "Er_tilde"},
          radial  ? "1/(m T^2)"
          : mixed ? "1/T"
                  : "m",
          "monoenergetic coefficient, DKES normalisation");
  }
  c.add("Er", {"rho", "Er_tilde"}, "T", "radial electric field E_r/v");
  c.add("Es", {"rho", "Er_tilde"}, "T m", "electric field in s = psi_n, E_s/v");
  c.add("Er_to_Ertilde", {"rho", "Er_tilde"}, "1", "1/(dr_tilde/dr)");
  c.add("drds", {"rho"}, "m", "dr/ds, r = a rho, s = rho^2");
  c.add("dr_tildedr", {"rho"}, "1", "dr_tilde/dr = 2 psi_a/(a^2 B00)");
  c.add("dr_tildeds", {"rho"}, "m", "dr_tilde/ds");
  c.add("B00", {"rho"}, "T", "mean field");
  c.add("R00", {"rho"}, "m", "major radius");
  c.add("iota", {"rho"}, "1", "rotational transform, sign as the solver has it");
  c.add("boozer_i", {"rho"}, "T m", "covariant poloidal field, surface average");
  c.add("boozer_g", {"rho"}, "T m", "covariant toroidal field, surface average");
  c.add("residual", {"rho"}, "1", "largest residual of the surface's cases");
  return c;
}

}  // namespace

std::vector<std::string> database_journals(const DatabaseRequest& request) {
  std::vector<std::string> names;
  if (request.scan.journal.empty()) return names;
  for (std::size_t i = 0; i < request.rho.size(); ++i) {
    names.push_back(fmt::format("{}.{}", request.scan.journal, i));
  }
  return names;
}

void check_database(const DatabaseRequest& request) {
  check_axis(request.rho, "rho");
  check_axis(request.nu_v, "nu");
  check_axis(request.er_tilde, "er");
  for (const double rho : request.rho) {
    if (!(rho > 0 && rho <= 1)) fail("rho must be above 0 and at most 1, got {}", rho);
  }
  for (const double rho : request.rho) {
    const auto vmec = read_vmec(request.wout, rho * rho);
    if (!request.booz.empty()) read_booz(request.booz, rho * rho, {}, vmec.minor_radius);
  }
}

DatabaseResult make_database(const DatabaseRequest& request,
                             const std::function<void(const DatabaseSurface&)>& on_surface) {
  check_database(request);
  const auto journals = database_journals(request);
  DatabaseResult result;
  Columns columns = declare();
  double minor_radius = 0, psi_edge = 0;
  for (std::size_t i = 0; i < request.rho.size(); ++i) {
    const double rho = request.rho[i];
    DatabaseSurface report{rho};
    auto begin = monotonic_ns();
    Surface vmec = read_vmec(request.wout, rho * rho);
    minor_radius = vmec.minor_radius;
    psi_edge = vmec.psi_edge;
    Surface surface = request.booz.empty() ? std::move(vmec)
                                           : read_booz(request.booz, rho * rho, {}, minor_radius);
    if (request.min_bmn > 0) drop_small_modes(surface, request.min_bmn);
    const auto prepared = prepare(surface, request.grid);
    const auto& g = prepared.geometry();
    report.prepare_s = seconds_since(begin);

    const Radial radial(rho, minor_radius, psi_edge, g.b0);
    std::vector<double> epsi;
    for (const double e : request.er_tilde)
      epsi.push_back(e * radial.dr_tilde_dr * g.b0 / g.psi_prime);
    ScanOptions options = request.scan;
    if (!journals.empty()) options.journal = journals[i];
    begin = monotonic_ns();
    const auto scan = solve_scan(prepared, case_grid(request.nu_v, epsi), options);
    report.solve_s = seconds_since(begin);
    report.solved = scan.solved;
    report.resumed = scan.resumed;
    if (!scan.complete) {
      result.complete = false;
      return result;
    }

    double residual = 0;
    for (const auto& s : scan.solutions) {
      columns.put("D11", s.d.d11);
      columns.put("D13", s.d.d13);
      columns.put("D33", s.d.d33);
      columns.put("D33_spitzer", s.d.d33_spitzer);
      columns.put("D31", s.d.d31);
      residual = std::max(residual, s.residual);
      for (const auto& w : s.warnings) {
        if (std::ranges::find(report.warnings, w) == report.warnings.end()) {
          report.warnings.push_back(w);
        }
      }
    }
    for (const double e : request.er_tilde) {
      columns.put("Er", e * radial.dr_tilde_dr * g.b0);
      columns.put("Es", e * radial.dr_tilde_ds * g.b0);
      columns.put("Er_to_Ertilde", 1 / radial.dr_tilde_dr);
    }
    columns.put("drds", radial.drds);
    columns.put("dr_tildedr", radial.dr_tilde_dr);
    columns.put("dr_tildeds", radial.dr_tilde_ds);
    columns.put("B00", g.b0);
    columns.put("R00", surface.major_radius != 0 ? surface.major_radius
                                                 : std::abs(g.average(g.b_sub_zeta) / g.b0));
    columns.put("iota", g.iota);
    columns.put("boozer_i", g.average(g.b_sub_theta));
    columns.put("boozer_g", g.average(g.b_sub_zeta));
    columns.put("residual", residual);
    if (on_surface) on_surface(report);
    result.surfaces.push_back(std::move(report));
  }

  auto& data = result.data;
  data.dimensions = {{"rho", request.rho.size()},
                     {"nu_v", request.nu_v.size()},
                     {"Er_tilde", request.er_tilde.size()}};
  data.variables = {{"rho", {"rho"}, request.rho, "1", "square root of the normalised flux"},
                    {"nu_v", {"nu_v"}, request.nu_v, "1/m", "collisionality nu/v"},
                    {"Er_tilde",
                     {"Er_tilde"},
                     request.er_tilde,
                     "1",
                     "electric field in units of B00 dr_tilde/dr"}};
  for (auto& v : columns.take()) data.variables.push_back(std::move(v));
  data.texts["source_name"] = request.booz.empty() ? request.wout : request.booz;
  data.numbers = {{"a_b", minor_radius}, {"psia", psi_edge}, {"format_version", 2}};
  return result;
}

}  // namespace assay::transport
