// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/friction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "transport/profiles/small_solve.h"
#include "transport/profiles/speeds.h"

namespace assay::transport {
namespace {

constexpr double kEv = kElementaryCharge;

Species electrons(double ev = 1000) {
  return {"e", kElectronMass, -kElementaryCharge, 1e20, ev * kEv};
}
Species ions(double mass_u, double z, double ev = 1000) {
  return {"i", mass_u * kAtomicMass, z * kElementaryCharge, 1e20 / z, ev * kEv};
}

TEST(Collisions, SmallArgumentsMeetLargeOnes) {
  for (const double x : {0.049999999, 0.050000001}) {
    const double h = 1e-4;
    // Continuity across the change of formula, against a difference quotient's error.
    EXPECT_NEAR(chandrasekhar(x), (chandrasekhar(x - h) + chandrasekhar(x + h)) / 2, 1e-9);
    EXPECT_NEAR(erf_minus_chandrasekhar(x),
                (erf_minus_chandrasekhar(x - h) + erf_minus_chandrasekhar(x + h)) / 2, 1e-9);
  }
  EXPECT_NEAR(chandrasekhar(0.0499999999) / chandrasekhar(0.0500000001), 1, 1e-8);
  EXPECT_NEAR(erf_minus_chandrasekhar(0.0499999999) / erf_minus_chandrasekhar(0.0500000001), 1,
              1e-8);
  EXPECT_NEAR(chandrasekhar(1), 0.2137967, 1e-7);  // tabulated
  EXPECT_NEAR(chandrasekhar(100), 0.5e-4, 1e-12);
}

// ν_D of electrons on very heavy ions is Lorentz's: Z n q⁴ lnΛ/(4πε₀²m²v³).
TEST(Collisions, HeavyIonsAreLorentzs) {
  const std::vector<Species> both = {electrons(), ions(1e8, 3)};
  const double v = 0.8 * both[0].thermal_speed(), log_lambda = 17;
  const double q = kElementaryCharge;
  const double lorentz =
      3 * 1e20 * q * q * q * q * log_lambda /
      (4 * std::numbers::pi * std::pow(kVacuumPermittivity * kElectronMass, 2) * v * v * v);
  const double own = deflection_frequency(std::span(both).first(1), 0, v, log_lambda);
  EXPECT_NEAR(deflection_frequency(both, 0, v, log_lambda) - own, lorentz, 1e-6 * lorentz);
}

// Maxwellian moments of ν_D, by the trapezoid rule in ln K instead of panels in √K.
TEST(Collisions, MomentsASecondWay) {
  const std::vector<Species> both = {electrons(1500), ions(2, 1, 700)};
  const double vt = both[1].thermal_speed();
  for (int n = 1; n <= 3; ++n) {
    double panels = 0, trapezoid = 0;
    for (const auto& [x, w] : panel_rule(speed_panels(), 10)) {
      panels += w * 2 * std::pow(x, 2 * n + 2) * std::exp(-x * x) *
                deflection_frequency(both, 1, vt * x, 17);
    }
    const double h = 0.01;
    for (double y = -40; y < 5; y += h) {
      const double k = std::exp(y);
      trapezoid += h * k * std::pow(k, n + 0.5) * std::exp(-k) *
                   deflection_frequency(both, 1, vt * std::sqrt(k), 17);
    }
    EXPECT_NEAR(panels / trapezoid, 1, 1e-11) << n;
  }
}

// In units of (4/(3√π)) n m ν̂ the elements of like species are fractions: own part −1/√2·(1, 3/4,
// 15/32; 59/16, …), and the parts cancel in row 0.
TEST(Friction, OfLikeSpeciesIsBraginskiis) {
  const std::vector<Species> one = {ions(2, 1)};
  const Friction f(one, 3, 17);
  const double unit = one[0].density * one[0].mass * pair_frequency(one[0], one[0], 17) * 4 /
                      (3 * std::sqrt(std::numbers::pi)) / std::numbers::sqrt2;
  const double exact[3][3] = {{0, 0, 0}, {0, -2, -1.5}, {0, -1.5, -5.625}};
  for (int j = 0; j < 3; ++j) {
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(f.at(0, j, 0, k) / unit, exact[j][k], 1e-11) << j << k;
  }
}

// Element (0,0) in closed form: (4/(3√π)) ν̂_ab n_a m_a (1 + m_a/m_b)(1 + v_tb²/v_ta²)^{−3/2}.
TEST(Friction, ConservesMomentumForAnyMassesAndTemperatures) {
  const std::vector<Species> three = {electrons(2500), ions(2, 1, 800), ions(12, 6, 1300)};
  const int terms = 5;
  const Friction f(three, terms, 17);
  for (std::size_t b = 0; b < 3; ++b) {
    for (int k = 0; k < terms; ++k) {
      double sum = 0, scale = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        sum += f.at(a, 0, b, k);
        scale += std::abs(f.at(a, 0, b, k));
      }
      EXPECT_LT(std::abs(sum), 1e-11 * scale) << b << k;
    }
  }
  const auto& a = three[1];
  const auto& b = three[2];
  const double x = b.thermal_speed() / a.thermal_speed();
  const double exact = 4 / (3 * std::sqrt(std::numbers::pi)) * a.density * a.mass *
                       pair_frequency(a, b, 17) * (1 + a.mass / b.mass) * std::pow(1 + x * x, -1.5);
  EXPECT_NEAR(f.at(1, 0, 2, 0) / exact, 1, 1e-11);
}

TEST(Friction, IsSymmetricAtOneTemperature) {
  const std::vector<Species> three = {electrons(), ions(1, 1), ions(12, 6)};
  const int terms = 4;
  const Friction f(three, terms, 17);
  double worst = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      for (int j = 0; j < terms; ++j) {
        for (int k = 0; k < terms; ++k) {
          const double scale = std::sqrt(std::abs(f.at(a, j, a, j) * f.at(b, k, b, k)));
          worst = std::max(worst, std::abs(f.at(a, j, b, k) - f.at(b, k, a, j)) / scale);
        }
      }
    }
  }
  EXPECT_LT(worst, 1e-11);
}

// Conductivity along a uniform field over Lorentz's, with n terms. Spitzer and Härm (1953): 0.5816,
// 0.6833, 0.7849, 0.9225 for Z = 1, 2, 4, 16 (their third digit at Z = 2 is known to be low).
double spitzer_share(double z, int terms) {
  const std::vector<Species> both = {electrons(), ions(1e9, z)};
  const Friction f(both, terms, 17);
  const auto n = static_cast<std::size_t>(terms);
  std::vector<double> a(n * n), b(n);
  for (int j = 0; j < terms; ++j) {
    for (int k = 0; k < terms; ++k) a[static_cast<std::size_t>(j * terms + k)] = -f.at(0, j, 0, k);
  }
  b[0] = 1;
  EXPECT_TRUE(solve_small(n, a, b));
  // ∫ K³ e^{−K} dK = 6 of 1/ν_D ∝ K^{3/2}.
  const double rate = both[0].density * both[0].mass * pair_frequency(both[0], both[1], 17);
  return b[0] * rate / (8 / std::sqrt(std::numbers::pi));
}

TEST(Friction, GivesSpitzersConductivity) {
  EXPECT_NEAR(spitzer_share(1, 10), 0.5816, 5e-4);
  EXPECT_NEAR(spitzer_share(2, 10), 0.6833, 3e-3);
  EXPECT_NEAR(spitzer_share(4, 10), 0.7849, 5e-4);
  EXPECT_NEAR(spitzer_share(16, 10), 0.9225, 1e-3);
  EXPECT_NEAR(spitzer_share(1e6, 10), 1, 1e-4);
  // One term knows of no distortion: 3π/32.
  EXPECT_NEAR(spitzer_share(1, 1), 3 * std::numbers::pi / 32, 1e-6);
  const double limit = spitzer_share(1, 12);
  double before = 1;
  for (const int terms : {1, 2, 4, 8}) {
    const double error = std::abs(spitzer_share(1, terms) - limit);
    EXPECT_LT(error, 0.5 * before);
    before = error;
  }
}

}  // namespace
}  // namespace assay::transport
