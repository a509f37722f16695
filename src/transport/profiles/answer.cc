// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/answer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace assay::transport {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Every second ν̂, ends kept.
CoefficientTable thinned(const CoefficientTable& t) {
  CoefficientTable out = t;
  for (auto* v : {&out.nu_hat, &out.d11, &out.d31, &out.d13, &out.d33, &out.d33_spitzer})
    v->clear();
  const std::size_t n = t.nu_hat.size(), width = t.er_hat.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 2 == 1 && i + 1 < n) continue;
    out.nu_hat.push_back(t.nu_hat[i]);
    const auto copy = [&](const std::vector<double>& from, std::vector<double>& to) {
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(i * width),
                from.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    };
    copy(t.d11, out.d11);
    copy(t.d31, out.d31);
    copy(t.d13, out.d13);
    copy(t.d33, out.d33);
    copy(t.d33_spitzer, out.d33_spitzer);
  }
  return out;
}

// Fluxes below this share of n v_t (heat: n T v_t) are rounding: a field that is nearly uniform.
constexpr double kNoFlux = 1e-12;

// The largest change of a flux, against the larger of plain and corrected ones; of the parallel
// current likewise.
double change_of(const std::vector<Species>& species, const BothFluxes& now, const Fluxes& other) {
  double change = 0;
  const auto compare = [&](double a, double b, double scale, double least = 0) {
    if (scale > least) change = std::max(change, std::abs(a - b) / scale);
  };
  for (std::size_t a = 0; a < now.corrected.species.size(); ++a) {
    const auto &c = now.corrected.species[a], &p = now.plain.species[a], &o = other.species[a];
    const auto& s = species[a];
    const double least = kNoFlux * s.density * s.thermal_speed();
    compare(c.particles, o.particles, std::max(std::abs(c.particles), std::abs(p.particles)),
            least);
    compare(c.heat, o.heat, std::max(std::abs(c.heat), std::abs(p.heat)), least * s.temperature);
  }
  compare(now.corrected.parallel_current, other.parallel_current,
          std::max(std::abs(now.corrected.parallel_current), std::abs(now.plain.parallel_current)));
  return change;
}

// The field of the answer: the profile's, or the root that was asked for, or the stable one there
// is.
double choose_field(const ProfilesInput& in, RadiusAnswer& out) {
  if (in.er) {
    if (out.rho < in.er->first() || out.rho > in.er->last()) {
      fail("{}: er is known from rho {} to {}, not at {}", in.path, in.er->first(), in.er->last(),
           out.rho);
    }
    return in.er->at(out.rho);
  }
  if (!out.search.determined) {
    out.warnings.push_back(fmt::format(
        "rho {:g}: J_r is {:.1e} of the species' currents at any E_r: the field is symmetric, E_r "
        "is not determined and taken as 0",
        out.rho, out.search.relative_current));
    return 0;
  }
  const Root* chosen = nullptr;
  for (const auto& root : out.search.roots) {
    if (root.kind == in.root) chosen = &root;
  }
  if (chosen == nullptr) {
    const auto stable = std::ranges::find_if(out.search.roots, &Root::stable);
    if (stable != out.search.roots.end()) chosen = &*stable;
  }
  if (chosen != nullptr) return chosen->er;
  out.warnings.push_back(fmt::format("rho {:g}: no stable root of J_r from {:g} to {:g} V/m",
                                     out.rho, in.search.least, in.search.most));
  return kNone;
}

double log_lambda(const ProfilesInput& in, const std::vector<Species>& species) {
  if (in.coulomb_logarithm) return *in.coulomb_logarithm;
  const auto e = std::ranges::find(species, "e", &Species::name);
  return coulomb_logarithm(e->density, e->temperature);
}

}  // namespace

RadiusAnswer answer(const ProfilesInput& in, const CoefficientTable& table) {
  RadiusAnswer out;
  out.rho = table.rho;
  out.r = table.r;
  out.species = in.species_at(table.rho, table.r / table.rho);
  out.coulomb_logarithm = log_lambda(in, out.species);
  const auto surface = interpolated(table);
  out.b0 = surface.b0;
  out.mean_b2 = surface.mean_b2;
  out.warnings = surface.warnings;
  const FluxOptions options{out.coulomb_logarithm, in.laguerre_terms};
  const RadiusProblem problem(surface, out.species, options);

  out.search = ambipolar(problem, in.search);
  out.er = choose_field(in, out);
  if (std::isnan(out.er)) return out;
  out.fluxes = problem.at(out.er, in.search.e_parallel);

  if (in.laguerre_terms > 1) {
    const RadiusProblem fewer(surface, out.species, {out.coulomb_logarithm, in.laguerre_terms - 1});
    out.laguerre_change =
        change_of(out.species, out.fluxes, fewer.fluxes(out.er, in.search.e_parallel).corrected);
  }
  if (table.nu_hat.size() >= 5) {
    auto thin = thinned(table);
    thin.pfirsch_schlueter = surface.pfirsch_schlueter;
    const RadiusProblem coarse(interpolated(thin), out.species, options);
    out.table_change =
        change_of(out.species, out.fluxes, coarse.fluxes(out.er, in.search.e_parallel).corrected);
  }

  const auto warn = [&](bool when, std::string text) {
    if (when) out.warnings.push_back(fmt::format("rho {:g}: {}", out.rho, text));
  };
  const auto& f = out.fluxes;
  warn(f.outside_share > kOutsideWarning,
       fmt::format("{:.1f} % of an integral of '{}' lie beyond the table, where it is extrapolated",
                   100 * f.outside_share, f.outside_species));
  warn(f.onsager_error > 0.05,
       fmt::format("L13 and L31 differ by {:.1f} %: the table's cases are not resolved",
                   100 * f.onsager_error));
  warn(f.quadrature_error > 1e-3,
       fmt::format("two quadratures differ by {:.1e}", f.quadrature_error));
  warn(out.table_change > 0.1,
       fmt::format("fluxes change by {:.0f} % without every second nu_hat: the table is too coarse",
                   100 * out.table_change));
  return out;
}

CoefficientTable make_table(const Surface& surface, const Grid& grid, double rho, double r,
                            const std::vector<double>& nu_hat, const std::vector<double>& er_hat,
                            const ScanOptions& options, std::vector<std::string>& warnings) {
  const auto prepared = prepare(surface, grid);
  const auto& g = prepared.geometry();
  std::vector<double> epsi;
  for (const double er : er_hat) epsi.push_back(er / g.psi_prime);
  const auto scan = solve_scan(prepared, case_grid(nu_hat, epsi), options);
  int warned = 0;
  CoefficientTable t;
  t.rho = rho;
  t.r = r;
  t.b0 = g.b0;
  t.nu_hat = nu_hat;
  t.er_hat = er_hat;
  for (const auto& s : scan.solutions) {
    t.d11.push_back(s.d.d11);
    t.d31.push_back(s.d.d31);
    t.d13.push_back(s.d.d13);
    t.d33.push_back(s.d.d33);
    t.d33_spitzer.push_back(s.d.d33_spitzer);
    warned += s.warnings.empty() ? 0 : 1;
    if (warned == 1 && !s.warnings.empty()) {
      warnings.push_back(fmt::format("rho {:g}: nu_hat {:g}, er_hat {:g}: {}", rho, s.at.nu_hat,
                                     s.at.epsi_hat * g.psi_prime, s.warnings.front()));
    }
  }
  if (warned > 1) {
    warnings.push_back(
        fmt::format("rho {:g}: {} of {} cases have such warnings; a scan of them "
                    "tells which",
                    rho, warned, scan.solutions.size()));
  }
  // Far beyond every mean free path four Legendre modes are plenty: D11/ν̂ is its limit to 1e-6.
  const double nu = 1e3;
  const auto limit = solve(prepare(surface, {grid.n_theta, grid.n_zeta, 4}), {nu, 0});
  t.pfirsch_schlueter = limit.d.d11 / nu;
  return t;
}

}  // namespace assay::transport
