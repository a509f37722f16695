// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/fluxes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "transport/profiles/ambipolar.h"
#include "transport/profiles/speeds.h"

namespace assay::transport {
namespace {

constexpr double kEvJ = kElementaryCharge;

// A field with an exact symmetry: D31 and D11 follow from the share R(ν̂) of D33 (κ = B_ζ/ι).
struct Symmetric {
  double kappa = 7, psi_prime = 0.3, b0 = 2, mean_b2 = 4.1, mean_inverse_b2 = 0.26;
  double passing = 0.55, bend = 0.02;  // R from f_c to 1 around ν̂ = bend
  bool banana = false;                 // R = f_c at every ν̂

  Monoenergetic surface() const {
    Monoenergetic m;
    m.rho = 0.5;
    m.r = 0.2;
    m.b0 = b0;
    m.mean_b2 = mean_b2;
    m.pfirsch_schlueter =
        2.0 / 3 * kappa * kappa * (mean_inverse_b2 - 1 / mean_b2) / (psi_prime * psi_prime);
    m.at = [s = *this](double nu, double) {
      const double y = nu / s.bend,
                   t = s.banana ? 1 - s.passing : (1 - s.passing) / (1 + std::sqrt(y) + y * y);
      MonoenergeticPoint p;
      p.share = 1 - t;
      p.d31 = -2.0 / 3 * s.kappa * t / (s.psi_prime * s.b0);
      p.d13 = -p.d31;
      p.d11 = 2.0 / 3 * s.kappa * s.kappa * nu * (s.mean_inverse_b2 - p.share / s.mean_b2) /
              (s.psi_prime * s.psi_prime);
      return p;
    };
    return m;
  }
};

Species electrons(double n, double t, double dn, double dt) {
  return {"e", kElectronMass, -kElementaryCharge, n, t * kEvJ, dn, dt * kEvJ};
}
Species ions(double u, double z, double n, double t, double dn, double dt) {
  return {"i", u * kAtomicMass, z * kElementaryCharge, n, t * kEvJ, dn, dt * kEvJ};
}
std::vector<Species> two_species() {
  return {electrons(5e19, 2000, -1e20, -9000), ions(2, 1, 5e19, 1500, -1e20, -5000)};
}

// D11 = c ν̂^p with ν_D of electrons on ions that do not move (all else thin): ν̂ ∝ K^{−2}, and the
// integrals are Gamma functions.
TEST(Fluxes, PowerLawsAreGammaFunctions) {
  const std::vector<Species> both = {electrons(1e8, 1000, 0, 0), ions(1e12, 1e6, 1e19, 1000, 0, 0)};
  for (const double power : {-1.0, 0.0, 0.5, 1.0}) {
    Monoenergetic m;
    m.at = [&](double nu, double) {
      return MonoenergeticPoint{3 * std::pow(nu, power), 0, 0, 0.9};
    };
    const auto out = RadiusProblem(m, both, {.coulomb_logarithm = 15}).at(0);
    const auto& e = both[0];
    const double vt = e.thermal_speed(), nu1 = deflection_frequency(both, 0, vt, 15) / vt;
    const double unit = std::pow(e.mass / e.charge, 2) * vt * vt * vt * std::numbers::inv_sqrtpi *
                        3 * std::pow(nu1, power);
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        const double exact = unit * std::tgamma(3 + i + j - 2 * power);
        EXPECT_NEAR(out.l[0][i][j] / exact, 1, 1e-6) << power << i << j;
      }
    }
    EXPECT_LT(out.quadrature_error, 1e-6);
  }
}

TEST(Fluxes, NoForceNoFlux) {
  std::vector<Species> flat = two_species();
  for (auto& s : flat) s.density_gradient = s.temperature_gradient = 0;
  const auto out = RadiusProblem(Symmetric().surface(), flat, {}).at(0);
  for (const auto* f : {&out.plain, &out.corrected}) {
    EXPECT_EQ(f->parallel_current, 0);
    for (const auto& s : f->species) {
      EXPECT_EQ(s.particles, 0);
      EXPECT_EQ(s.heat, 0);
      EXPECT_EQ(s.flow, 0);
    }
  }
}

TEST(Fluxes, SymmetricFieldsAreAmbipolarAtAnyFieldOnceMomentumIsKept) {
  std::vector<Species> three = two_species();
  three[0].density += 6 * 1e17;
  three.push_back(ions(12, 6, 1e17, 1800, -3e17, -4000));
  for (const auto& species : {two_species(), three}) {
    for (const int terms : {1, 2, 3, 6}) {
      const RadiusProblem problem(Symmetric().surface(), species, {.laguerre_terms = terms});
      for (const double er : {-30e3, -1e3, 0.0, 10e3}) {
        const auto f = problem.at(er, 0.01);
        double worst = 0;
        for (const auto& s : f.corrected.species) worst = std::max(worst, std::abs(s.particles));
        const double net = std::abs(f.corrected.radial_current);
        EXPECT_LT(net, 1e-9 * f.plain.radial_scale) << terms << " " << er;
        // Sharp even against the smallest flux that is left.
        EXPECT_LT(net, 1e-7 * f.corrected.radial_scale) << terms << " " << er;
        EXPECT_GT(std::abs(f.plain.radial_current), 0.3 * f.plain.radial_scale);
      }
    }
  }
  const auto none = ambipolar(RadiusProblem(Symmetric().surface(), two_species(), {}));
  EXPECT_FALSE(none.determined);
  EXPECT_LT(none.relative_current, 1e-9);
}

// E_r alone turns a symmetric plasma as a whole: u_∥ = −E_r κ/(ψ' …) for all species, no friction,
// no flux.
TEST(Fluxes, ARigidRotationCarriesNothing) {
  std::vector<Species> flat = {electrons(5e19, 1200, 0, 0), ions(2, 1, 5e19, 1200, 0, 0)};
  const Symmetric s;
  const double er = 4e3;
  const auto f = RadiusProblem(s.surface(), flat, {}).at(er);
  const double turning = er * s.kappa / s.psi_prime / s.b0;
  for (std::size_t a = 0; a < 2; ++a) {
    EXPECT_NEAR(f.corrected.species[a].flow / turning, 1, 1e-9);
    EXPECT_LT(std::abs(f.corrected.species[a].particles),
              1e-9 * std::abs(f.plain.species[a].particles));
    EXPECT_LT(std::abs(f.corrected.species[a].heat), 1e-9 * std::abs(f.plain.species[a].heat));
    EXPECT_GT(std::abs(f.plain.species[a].particles), 1e10);
  }
  EXPECT_LT(std::abs(f.corrected.parallel_current), 1e-9 * std::abs(5e19 * kEvJ * turning * s.b0));
}

// Pfirsch–Schlüter, large ν̂: all of the radial flux is friction on the return flow,
// Γ_a = (3/2)(P/q) F_a, and ambipolar; here against the closed element of momentum.
TEST(Fluxes, PfirschSchlueterFluxIsFriction) {
  Symmetric s;
  s.bend = 1e-8;  // far beyond the bend: 1 − R of order 1e-10
  std::vector<Species> both = {electrons(5e19, 1000, -1e20, 0), ions(2, 1, 5e19, 1000, -1e20, 0)};
  const auto m = s.surface();
  const double log_lambda = 17;
  const auto f = RadiusProblem(m, both, {.coulomb_logarithm = log_lambda}).at(0);
  // F_e0 = −l (d_e − d_i), d = (T/q) n'/n, l = (4/(3√π)) n m ν̂_ei (1 + m_e/m_i)(1 + x²)^{−3/2}.
  const double x = both[1].thermal_speed() / both[0].thermal_speed();
  const double l = 4 / (3 * std::sqrt(std::numbers::pi)) * 5e19 * kElectronMass *
                   pair_frequency(both[0], both[1], log_lambda) *
                   (1 + both[0].mass / both[1].mass) * std::pow(1 + x * x, -1.5);
  const double d = 1000 * kEvJ / kElementaryCharge * (-1e20 / 5e19);
  const double exact = 1.5 * m.pfirsch_schlueter / -kElementaryCharge * (-l * (-d - d));
  EXPECT_NEAR(f.corrected.species[0].particles / exact, 1, 1e-6);
  EXPECT_NEAR(f.corrected.species[1].particles / exact, 1, 1e-6);
  EXPECT_GT(exact, 0);  // outward along −n'
}

// L12 = L21 by form; L13 = −L31 to what the table says; with a flow of E·B as a check of the sign:
// the Ware pinch is inward where the bootstrap current is along the inductive field.
TEST(Fluxes, OnsagerHolds) {
  const auto f = RadiusProblem(Symmetric().surface(), two_species(), {}).at(2e3);
  EXPECT_LT(f.onsager_error, 1e-14);
  for (const auto& l : f.l) {
    EXPECT_EQ(l[0][1], l[1][0]);
    EXPECT_NEAR(l[1][2], -l[2][1], 1e-12 * std::abs(l[1][2]));
    EXPECT_GT(l[0][0], 0);
    EXPECT_GT(l[1][1], 0);
    EXPECT_GT(l[2][2], 0);
  }
  // The matrix with momentum kept is symmetric too, at one temperature: ∂⟨j·B⟩/∂n'_e by
  // perturbation against ∂Γ_e/∂⟨E·B⟩. I = −n L A and j = Σ qnu: entropy pairs (Γ, T n'/n), (j, E).
  std::vector<Species> base = {electrons(5e19, 1000, 0, 0), ions(2, 1, 5e19, 1000, 0, 0)};
  auto steep = base;
  steep[0].density_gradient = -1e20;
  const auto m = Symmetric().surface();
  const double e_parallel = 0.1;
  const auto driven = RadiusProblem(m, base, {}).at(0, e_parallel).corrected;
  const auto pushed = RadiusProblem(m, steep, {}).at(0).corrected;
  const double by_gradient = pushed.parallel_current / (base[0].temperature * -1e20 / 5e19);
  const double by_field = driven.species[0].particles / (e_parallel * m.b0);
  EXPECT_NEAR(by_gradient / (by_field * m.mean_b2), 1, 1e-9);
}

// Uniform field (share → 1): ⟨j·B⟩ = σ⟨E·B⟩ with Spitzer's σ.
TEST(Fluxes, CarriesSpitzersCurrent) {
  Symmetric s;
  s.passing = 1 - 1e-9;
  s.banana = true;
  std::vector<Species> both = {electrons(5e19, 1000, 0, 0), ions(1e6, 1, 5e19, 1000, 0, 0)};
  auto m = s.surface();
  const auto f = RadiusProblem(m, both, {.laguerre_terms = 10}).at(0, 0.2);
  const auto& e = both[0];
  const double lorentz = 8 / std::sqrt(std::numbers::pi) * e.density * e.charge * e.charge /
                         (e.mass * pair_frequency(e, both[1], 17));
  EXPECT_NEAR(f.corrected.parallel_current / (lorentz * 0.2 * m.b0), 0.5816, 5e-4);
  EXPECT_GT(std::abs(f.plain.parallel_current / f.corrected.parallel_current - 1), 0.02);
}

// ⟨j·B⟩ in the banana limit, ions much heavier than electrons, f_t = 1 − R at every ν̂.
//   ⟨j·B⟩ = −(I/ι) p_e (L31 [p'/p_e + α T_i'/(Z T_i)] + L32 T_e'/T_e), all at one temperature.
struct BananaFormula {
  double l31 = 0, l32 = 0, alpha = 0;
};

// Hirshman, Phys. Fluids 31, 3150 (1988): two Laguerre terms, in closed form with rounded numbers.
BananaFormula hirshman(double f, double z) {
  const double x = f / (1 - f);
  const double d =
      1.414 * z + z * z + x * (0.754 + 2.657 * z + 2 * z * z) + x * x * (0.348 + 1.243 * z + z * z);
  return {x * (0.754 + 2.21 * z + z * z + x * (0.348 + 1.243 * z + z * z)) / d,
          -x * (0.884 + 2.074 * z) / d, -1.172 / (1 + 0.462 * x)};
}

// Sauter, Angioni and Lin-Liu, Phys. Plasmas 6, 2834 (1999), at ν* = 0: fits of a Fokker-Planck
// code.
BananaFormula sauter(double f, double z) {
  const double f2 = f * f, f3 = f2 * f, f4 = f3 * f;
  const double ee = (0.05 + 0.62 * z) / (z * (1 + 0.44 * z)) * (f - f4) +
                    1 / (1 + 0.22 * z) * (f2 - f4 - 1.2 * (f3 - f4)) + 1.2 / (1 + 0.5 * z) * f4;
  const double ei = -(0.56 + 1.93 * z) / (z * (1 + 0.44 * z)) * (f - f4) +
                    4.95 / (1 + 2.48 * z) * (f2 - f4 - 0.55 * (f3 - f4)) - 1.2 / (1 + 0.5 * z) * f4;
  return {(1 + 1.4 / (z + 1)) * f - 1.9 / (z + 1) * f2 + 0.3 / (z + 1) * f3 + 0.2 / (z + 1) * f4,
          ee + ei, -1.17 * (1 - f) / (1 - 0.22 * f - 0.19 * f2)};
}

BananaFormula ours(double trapped, double z, int terms) {
  Symmetric s;
  s.banana = true;
  s.passing = 1 - trapped;
  const double n = 5e19, t = 1000 * kEvJ, steep = -3;  // 1/m
  const auto current = [&](double dn, double dte, double dti) {
    std::vector<Species> both = {electrons(n, 1000, n * dn, 1000 * dte),
                                 ions(1e7, z, n / z, 1000, n / z * dn, 1000 * dti)};
    const auto f = RadiusProblem(s.surface(), both, {.laguerre_terms = terms}).at(0).corrected;
    return f.parallel_current / (-s.kappa / s.psi_prime * n * t * steep);
  };
  BananaFormula out;
  out.l31 = current(steep, 0, 0) / (1 + 1 / z);
  out.l32 = current(0, steep, 0) - out.l31;
  out.alpha = z * current(0, 0, steep) / out.l31 - 1;
  return out;
}

class Bootstrap : public ::testing::TestWithParam<double> {};

TEST_P(Bootstrap, IsHirshmansWithTwoTerms) {
  for (const double trapped : {0.1, 0.2, 0.45, 0.7}) {
    const double z = GetParam();
    const auto exact = hirshman(trapped, z), got = ours(trapped, z, 2);
    EXPECT_NEAR(got.l31 / exact.l31, 1, 0.003) << trapped;
    EXPECT_NEAR(got.l32 / exact.l32, 1, 0.01) << trapped;
    EXPECT_NEAR(got.alpha / exact.alpha, 1, 0.005) << trapped;
  }
}

TEST_P(Bootstrap, IsSautersToAFewPerCent) {
  for (const double trapped : {0.2, 0.45, 0.7}) {
    const double z = GetParam();
    const auto fit = sauter(trapped, z), got = ours(trapped, z, 6);
    EXPECT_NEAR(got.l31 / fit.l31, 1, 0.06) << trapped;
    EXPECT_NEAR(got.l32, fit.l32, 0.06 * fit.l31) << trapped;
  }
}
INSTANTIATE_TEST_SUITE_P(Charges, Bootstrap, ::testing::Values(1.0, 2.0, 1e4));

}  // namespace
}  // namespace assay::transport
