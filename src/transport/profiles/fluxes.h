// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From coefficients to fluxes at one radius.
//
// Signs: r outward; flows, D31 and currents along b. Forces of species a (q its charge):
//   A1 = n'/n − qE_r/T − (3/2)T'/T,   A2 = T'/T,   A3 = −(q/T) B0⟨E·B⟩/⟨B²⟩.
// Fluxes I1 = ⟨Γ·∇r⟩, I2 = ⟨Q·∇r⟩/T, I3 = n⟨u_∥B⟩/B0:
//   I_i = −n Σ_j L_ij A_j,   L_ij = (2/√π) ∫ √K e^{−K} 𝒟_ij h_i h_j dK,   h = (1, K, 1),
//   𝒟_11 = (m²v³/2q²) D11,  𝒟_13 = −(mv²/2q) D13,  𝒟_31 = −(mv²/2q) D31,  𝒟_33 = (v/2) D33,
// each at ν̂ = ν_D(K)/v, Ê_r = E_r/v, v = v_t√K. Onsager: L12 = L21, L13 = −L31, L23 = −L32. Q is
// the whole energy flux, convection included.
//
// That is the Lorentz operator, which loses momentum. The correction keeps pitch-angle scattering
// for every Legendre component but the first, to which the whole linearised operator is applied
// (friction.h): per species and Laguerre term the parallel momentum balance
//   viscosity·u − friction·u = drive by D31 + n q ⟨E·B⟩/⟨B²⟩
// gives the flows, and the flows change the fluxes; the Pfirsch–Schlüter flow gets its true
// friction as well. docs/transport-profiles.md derives it. In a (quasi-)symmetric field it makes Σ
// q_a Γ_a = 0 for any E_r and any number of terms.

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/profiles/collisions.h"
#include "transport/profiles/monoenergetic.h"

namespace assay::transport {

struct SpeciesFluxes {
  double particles = 0;  // ⟨Γ·∇r⟩ [1/(m² s)]
  double heat = 0;       // ⟨Q·∇r⟩ [W/m²]
  double flow = 0;       // ⟨u_∥B⟩/B0 [m/s]
};

struct Fluxes {
  std::vector<SpeciesFluxes> species;
  double radial_current = 0;    // Σ q Γ [A/m²]
  double parallel_current = 0;  // ⟨j·B⟩ [A T/m²]: bootstrap, and what ⟨E·B⟩ drives
  double radial_scale = 0;      // Σ |qΓ| [A/m²]
};

struct BothFluxes {
  Fluxes plain;      // Lorentz operator
  Fluxes corrected;  // momentum conserved
};

struct RadiusFluxes : BothFluxes {
  std::vector<std::array<std::array<double, 3>, 3>> l;  // L_ij for each species
  // Largest relative difference of the fluxes from those of a coarser rule.
  double quadrature_error = 0;
  double onsager_error = 0;  // |L13 + L31| over the larger, the worst species
  // Share of ∫ |integrand of L11, L22, L33| outside the table, the worst species and its name.
  double outside_share = 0;
  std::string outside_species;
};

struct FluxOptions {
  double coulomb_logarithm = 17;
  int laguerre_terms = 3;  // 1 to 12
};

// Everything at a radius that does not depend on E_r. Immutable; cheap to copy.
class RadiusProblem {
 public:
  RadiusProblem(Monoenergetic surface, std::vector<Species> species, const FluxOptions& options);

  // E_r [V/m], and ⟨E·B⟩/B0 [V/m]. Throws UserError where the flows are not determined (a field
  // without any viscosity).
  RadiusFluxes at(double er, double e_parallel = 0) const;
  // The fluxes alone, without estimates of their errors.
  BothFluxes fluxes(double er, double e_parallel = 0) const;
  const Monoenergetic& surface() const;
  std::span<const Species> species() const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace assay::transport
