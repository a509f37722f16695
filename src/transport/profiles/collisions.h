// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Species of a plasma at one radius, and how often they collide: Coulomb collisions with Maxwellian
// partners. SI units throughout; temperatures in joules.

#include <span>
#include <string>
#include <vector>

namespace assay::transport {

inline constexpr double kElementaryCharge = 1.602176634e-19;  // [C]; also joules of an eV
inline constexpr double kAtomicMass = 1.66053906660e-27;      // [kg]
inline constexpr double kElectronMass = 9.1093837015e-31;     // [kg]
inline constexpr double kVacuumPermittivity = 8.8541878128e-12;

// One species at one radius. Gradients are d/dr, r outward.
struct Species {
  std::string name;
  double mass = 0;         // [kg]
  double charge = 0;       // [C], with its sign
  double density = 0;      // [1/m³]
  double temperature = 0;  // [J]
  double density_gradient = 0, temperature_gradient = 0;

  double thermal_speed() const;  // v_t = √(2T/m)
};

// ln Λ = 32.2 + 1.15 log10(T_e²/n_e), T_e in eV and n_e in 1/m³: electrons above some 50 eV, and
// used for every pair of species. Throws UserError where it is not above 1: that is no plasma of
// weak collisions.
double coulomb_logarithm(double electron_density, double electron_temperature);

// ν̂_ab = n_b q_a² q_b² ln Λ / (4π ε_0² m_a² v_ta³) [1/s].
double pair_frequency(const Species& a, const Species& b, double coulomb_logarithm);

// erf(x), Chandrasekhar's function G(x) = (erf x − x erf' x)/(2x²), and erf − G, which is 4x/(3√π)
// for small x: each to rounding for every x ≥ 0.
double chandrasekhar(double x);
double erf_minus_chandrasekhar(double x);

// The deflection frequency of species `a` at speed `v` [1/s],
//   ν_D = Σ_b ν̂_ab (erf x_b − G(x_b))/x_a³,   x_a = v/v_ta, x_b = v/v_tb,
// with which pitch angles are scattered as ν_D·½∂_ξ(1−ξ²)∂_ξ.
double deflection_frequency(std::span<const Species> species, std::size_t a, double v,
                            double coulomb_logarithm);

}  // namespace assay::transport
