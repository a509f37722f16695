// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/fluxes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "transport/profiles/friction.h"
#include "transport/profiles/small_solve.h"
#include "transport/profiles/speeds.h"

namespace assay::transport {
namespace {

constexpr double kInverseRootPi = std::numbers::inv_sqrtpi;
using Matrix3 = std::array<std::array<double, 3>, 3>;

// A speed of a species with what does not depend on E_r.
struct SpeedNode {
  double k = 0, v = 0, nu_hat = 0;
  double measure = 0;  // weight of ∫ √K e^{−K} dK
  std::vector<double> laguerre;
};

std::vector<SpeedNode> speed_nodes(std::span<const Species> species, std::size_t a,
                                   double log_lambda, int terms, int order) {
  const double thermal = species[a].thermal_speed();
  std::vector<SpeedNode> nodes;
  for (const auto& [x, weight] : panel_rule(speed_panels(), order)) {
    SpeedNode node{x * x, x * thermal};
    node.nu_hat = deflection_frequency(species, a, node.v, log_lambda) / node.v;
    node.measure = 2 * weight * x * x * std::exp(-x * x);
    node.laguerre = laguerre(terms, node.k).value;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// What is integrated over the speeds of one species; j, k are Laguerre terms, i is a power of K in
// a force or a flux (0: particles, 1: heat). All are per unit force or flow.
struct SpeedIntegrals {
  Matrix3 l{};
  double reduced[2][2] = {};         // radial flux i by force i', flows held at zero
  std::vector<double> viscosity;     // [j][k], n m ν_D (1 − R)/R
  std::vector<double> drive[2];      // momentum j by force i
  std::vector<double> carried[2];    // radial flux i by flow k
  double pitch_friction[2][2] = {};  // n m ν_D between terms 0 and 1
  double outside = 0;
};

// Shares of ∫|g| that lie beyond the table, of several g; the worst counts.
class OutsideShares {
 public:
  void add(bool outside, const std::array<double, 4>& integrands) {
    for (std::size_t i = 0; i < integrands.size(); ++i) {
      all_[i] += std::abs(integrands[i]);
      if (outside) beyond_[i] += std::abs(integrands[i]);
    }
  }
  double worst() const {
    double share = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i] > 0) share = std::max(share, beyond_[i] / all_[i]);
    }
    return share;
  }

 private:
  std::array<double, 4> all_{}, beyond_{};
};

SpeedIntegrals integrate(const Monoenergetic& surface, const Species& s,
                         std::span<const SpeedNode> nodes, int terms, double er) {
  const auto n = static_cast<std::size_t>(terms);
  SpeedIntegrals sum;
  sum.viscosity.assign(n * n, 0);
  for (auto* v : {&sum.drive[0], &sum.drive[1], &sum.carried[0], &sum.carried[1]}) v->assign(n, 0);
  const double m = s.mass, q = s.charge, density = s.density, vt = s.thermal_speed();
  OutsideShares shares;
  for (const auto& node : nodes) {
    const auto d = surface.at(node.nu_hat, er / node.v);
    const double v = node.v, k = node.k, powers[2] = {1, k};
    const double spitzer = 2 / (3 * node.nu_hat) * surface.mean_b2 / (surface.b0 * surface.b0);
    const double d33 = d.share * spitzer;
    const double w = node.measure * kInverseRootPi;

    const double t11 = w * m * m * v * v * v / (q * q) * d.d11;
    const double t13 = -w * m * v * v / q * d.d13, t31 = -w * m * v * v / q * d.d31;
    const double t33 = w * v * d33;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) sum.l[i][j] += powers[i] * powers[j] * t11;
      sum.l[i][2] += powers[i] * t13;
      sum.l[2][i] += powers[i] * t31;
    }
    sum.l[2][2] += t33;
    shares.add(d.outside, {t11, t11 * k * k, t31, t31 * k});

    // The same with the flow held: f = (mv/q) A f̂1 + S f̂3 and S from the flow's own equation.
    const double left = d.d11 - d.d13 * d.d31 / d33;
    const double deflection = node.nu_hat * v, damping = deflection * (1 - d.share) / d.share;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        sum.reduced[i][j] +=
            density * w * m * m * v * v * v / (q * q) * powers[i] * powers[j] * left;
        sum.pitch_friction[i][j] +=
            density * m * (4.0 / 3) * w * k * node.laguerre[i] * node.laguerre[j] * deflection;
      }
    }
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t l = 0; l < n; ++l) {
        sum.viscosity[j * n + l] +=
            density * m * (4.0 / 3) * w * k * node.laguerre[j] * node.laguerre[l] * damping;
      }
      for (int i = 0; i < 2; ++i) {
        sum.drive[i][j] += density * m * m / q * (2.0 / 3) * w * v * v * v * node.laguerre[j] *
                           powers[i] * d.d31 / (surface.b0 * d33);
        sum.carried[i][j] += density * w * m * v * v / q * powers[i] * (2.0 / 3) *
                             (surface.mean_b2 / surface.b0) * (d.d13 / d33) * (2 * v / (vt * vt)) *
                             node.laguerre[j];
      }
    }
  }
  sum.outside = shares.worst();
  return sum;
}

struct Forces {
  double a1 = 0, a2 = 0, a3 = 0;
};
Forces forces(const Species& s, double er, double e_parallel, const Monoenergetic& surface) {
  const double warm = s.temperature_gradient / s.temperature;
  return {s.density_gradient / s.density - s.charge * er / s.temperature - 1.5 * warm, warm,
          -s.charge / s.temperature * e_parallel * surface.b0 * surface.b0 / surface.mean_b2};
}

void add_currents(Fluxes& f, std::span<const Species> species, double b0) {
  for (std::size_t a = 0; a < species.size(); ++a) {
    f.radial_current += species[a].charge * f.species[a].particles;
    f.parallel_current += species[a].charge * species[a].density * f.species[a].flow * b0;
  }
}

}  // namespace

struct RadiusProblem::Parts {
  Monoenergetic surface;
  std::vector<Species> species;
  int terms;  // of the flows
  Friction friction;
  std::vector<std::vector<SpeedNode>> fine, coarse;

  using Integrals = std::vector<SpeedIntegrals>;
  Integrals integrals(const std::vector<std::vector<SpeedNode>>& rule, double er) const {
    Integrals all;
    for (std::size_t a = 0; a < species.size(); ++a) {
      all.push_back(integrate(surface, species[a], rule[a], terms, er));
    }
    return all;
  }

  Fluxes plain(const Integrals& all, double er, double e_parallel) const {
    Fluxes out;
    for (std::size_t a = 0; a < species.size(); ++a) {
      const auto& s = species[a];
      const auto f = forces(s, er, e_parallel, surface);
      const auto& l = all[a].l;
      const auto flux = [&](int i) {
        return -s.density * (l[i][0] * f.a1 + l[i][1] * f.a2 + l[i][2] * f.a3);
      };
      out.species.push_back({flux(0), s.temperature * flux(1), flux(2) / s.density});
      out.radial_scale += std::abs(s.charge * flux(0));
    }
    add_currents(out, species, surface.b0);
    return out;
  }

  // u_ak in units of B: u_∥ = u_a0 B.
  std::vector<double> flows(const Integrals& all, double er, double e_parallel) const {
    const auto n = static_cast<std::size_t>(terms), size = species.size() * n;
    std::vector<double> matrix(size * size), right(size);
    for (std::size_t a = 0; a < species.size(); ++a) {
      const auto f = forces(species[a], er, e_parallel, surface);
      for (std::size_t j = 0; j < n; ++j) {
        double* row = &matrix[(a * n + j) * size];
        for (std::size_t k = 0; k < n; ++k) {
          row[a * n + k] += all[a].viscosity[j * n + k];
          for (std::size_t b = 0; b < species.size(); ++b) {
            row[b * n + k] -= friction.at(a, static_cast<int>(j), b, static_cast<int>(k));
          }
        }
        right[a * n + j] = all[a].drive[0][j] * f.a1 + all[a].drive[1][j] * f.a2;
      }
      right[a * n] +=
          species[a].density * species[a].charge * e_parallel * surface.b0 / surface.mean_b2;
    }
    if (!solve_small(size, matrix, right)) {
      fail("the parallel flows at rho {} are not determined: the surface has no viscosity",
           surface.rho);
    }
    return right;
  }

  Fluxes corrected(const Integrals& all, double er, double e_parallel) const {
    const auto n = static_cast<std::size_t>(terms);
    const auto u = flows(all, er, e_parallel);
    // The Pfirsch–Schlüter flow of each species: (T/q)(A1 + K A2), with K = 5/2 − L_1.
    std::vector<std::array<double, 2>> sideways;
    for (const auto& s : species) {
      const auto f = forces(s, er, e_parallel, surface);
      const double unit = s.temperature / s.charge;
      sideways.push_back({unit * (f.a1 + 2.5 * f.a2), -unit * f.a2});
    }
    Fluxes out;
    for (std::size_t a = 0; a < species.size(); ++a) {
      const auto& s = species[a];
      const auto& in = all[a];
      const auto f = forces(s, er, e_parallel, surface);
      double flux[2], true_minus_pitch[2];
      for (int i = 0; i < 2; ++i) {
        flux[i] = -in.reduced[i][0] * f.a1 - in.reduced[i][1] * f.a2;
        for (std::size_t k = 0; k < n; ++k) flux[i] -= in.carried[i][k] * u[a * n + k];
        double force = 0;
        for (int k = 0; k < 2; ++k) {
          force += in.pitch_friction[i][k] * sideways[a][static_cast<std::size_t>(k)];
          for (std::size_t b = 0; b < species.size(); ++b) {
            force += friction.at(a, i, b, k) * sideways[b][static_cast<std::size_t>(k)];
          }
        }
        true_minus_pitch[i] = 1.5 * surface.pfirsch_schlueter / s.charge * force;
      }
      flux[0] += true_minus_pitch[0];
      flux[1] += 2.5 * true_minus_pitch[0] - true_minus_pitch[1];
      out.species.push_back(
          {flux[0], s.temperature * flux[1], u[a * n] * surface.mean_b2 / surface.b0});
      out.radial_scale += std::abs(s.charge * flux[0]);
    }
    add_currents(out, species, surface.b0);
    return out;
  }
};

RadiusProblem::RadiusProblem(Monoenergetic surface, std::vector<Species> species,
                             const FluxOptions& options) {
  check(!species.empty() && surface.at != nullptr, "a radius has species and coefficients");
  // The Pfirsch–Schlüter friction needs two terms, however many the flows have.
  const int most = std::max(2, options.laguerre_terms);
  const double log_lambda = options.coulomb_logarithm;
  Friction friction(species, most, log_lambda);
  auto parts = std::make_shared<Parts>(Parts{
      std::move(surface), std::move(species), options.laguerre_terms, std::move(friction), {}, {}});
  for (std::size_t a = 0; a < parts->species.size(); ++a) {
    parts->fine.push_back(speed_nodes(parts->species, a, log_lambda, most, 10));
    parts->coarse.push_back(speed_nodes(parts->species, a, log_lambda, most, 6));
  }
  parts_ = std::move(parts);
}

const Monoenergetic& RadiusProblem::surface() const { return parts_->surface; }
std::span<const Species> RadiusProblem::species() const { return parts_->species; }

BothFluxes RadiusProblem::fluxes(double er, double e_parallel) const {
  const auto all = parts_->integrals(parts_->fine, er);
  return {parts_->plain(all, er, e_parallel), parts_->corrected(all, er, e_parallel)};
}

RadiusFluxes RadiusProblem::at(double er, double e_parallel) const {
  const auto& p = *parts_;
  const auto fine = p.integrals(p.fine, er), coarse = p.integrals(p.coarse, er);
  RadiusFluxes out;
  out.plain = p.plain(fine, er, e_parallel);
  out.corrected = p.corrected(fine, er, e_parallel);
  const auto rough = p.corrected(coarse, er, e_parallel);
  for (std::size_t a = 0; a < p.species.size(); ++a) {
    const auto& l = fine[a].l;
    out.l.push_back(l);
    const double mixed = std::max(std::abs(l[0][2]), std::abs(l[2][0]));
    if (mixed > 0)
      out.onsager_error = std::max(out.onsager_error, std::abs(l[0][2] + l[2][0]) / mixed);
    if (fine[a].outside > out.outside_share) {
      out.outside_share = fine[a].outside;
      out.outside_species = p.species[a].name;
    }
    const auto compare = [&](double SpeciesFluxes::*value) {
      const double exact = out.corrected.species[a].*value, other = rough.species[a].*value;
      const double scale = std::max(std::abs(exact), std::abs(out.plain.species[a].*value));
      if (scale > 0) {
        out.quadrature_error = std::max(out.quadrature_error, std::abs(exact - other) / scale);
      }
    };
    compare(&SpeciesFluxes::particles);
    compare(&SpeciesFluxes::heat);
    compare(&SpeciesFluxes::flow);
  }
  return out;
}

}  // namespace assay::transport
