// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/collisions.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace assay::transport {
namespace {

constexpr double kInvSqrtPi = std::numbers::inv_sqrtpi;
// Below this the differences of erf lose digits, and four terms of a series have all of them.
constexpr double kSmall = 0.05;

}  // namespace

double Species::thermal_speed() const { return std::sqrt(2 * temperature / mass); }

double coulomb_logarithm(double electron_density, double electron_temperature) {
  const double ev = electron_temperature / kElementaryCharge;
  const double value = 32.2 + 1.15 * std::log10(ev * ev / electron_density);
  if (!(value > 1)) {
    fail("a Coulomb logarithm above 1 is needed; {} eV at {} 1/m^3 give {}", ev, electron_density,
         value);
  }
  return value;
}

double pair_frequency(const Species& a, const Species& b, double coulomb_logarithm) {
  const double v = a.thermal_speed();
  const double force = a.charge * b.charge / (kVacuumPermittivity * a.mass);
  return b.density * force * force * coulomb_logarithm / (4 * std::numbers::pi * v * v * v);
}

// G = (2/√π) Σ_n (−1)^n x^{2n+1} / (n! (2n+3)).
double chandrasekhar(double x) {
  const double q = x * x;
  if (x < kSmall) {
    return 2 * kInvSqrtPi * x *
           (1.0 / 3 - q / 5 + q * q / 14 - q * q * q / 54 + q * q * q * q / 264);
  }
  return (std::erf(x) - 2 * kInvSqrtPi * x * std::exp(-q)) / (2 * q);
}

// erf − G = (4/√π) Σ_n (−1)^n x^{2n+1} / (n! (2n+1)(2n+3)).
double erf_minus_chandrasekhar(double x) {
  const double q = x * x;
  if (x < kSmall) {
    return 4 * kInvSqrtPi * x *
           (1.0 / 3 - q / 15 + q * q / 70 - q * q * q / 378 + q * q * q * q / 2376);
  }
  return std::erf(x) - chandrasekhar(x);
}

double deflection_frequency(std::span<const Species> species, std::size_t a, double v,
                            double coulomb_logarithm) {
  const double x = v / species[a].thermal_speed();
  double sum = 0;
  for (const auto& b : species) {
    sum += pair_frequency(species[a], b, coulomb_logarithm) *
           erf_minus_chandrasekhar(v / b.thermal_speed());
  }
  return sum / (x * x * x);
}

}  // namespace assay::transport
