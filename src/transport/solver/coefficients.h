// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Monoenergetic coefficients and the normalisations that people compare them in.

#include <array>
#include <string_view>

#include "transport/surface/geometry.h"

namespace assay::transport {

// In DKES's normalisation: D11 [1/(m T²)], D31 and D13 [1/T], D33 [m], in the radius r of ψ' =
// dψ/dr.
struct Coefficients {
  double d11 = 0, d31 = 0, d13 = 0, d33 = 0;
  double d33_spitzer = 0;  // (2/(3ν̂)) ⟨B²⟩/B0²: D33 where nothing is trapped
};

// The four coefficients from functional values c_i·f_j: [functional][source].
Coefficients coefficients_of(const Geometry& geometry, const double (&value)[2][2]);

// |D31 + D13| over the larger of the two; 0 where both are 0. Onsager: D13 = −D31.
double onsager_residual(const Coefficients& d);

// The whole matrix D_ij, i and j from 1: D12 = D21 = D22 = D11, D32 = D31, D23 = D13.
std::array<std::array<double, 3>, 3> full_matrix(const Coefficients& d);

// Coefficients in the coordinate ψ instead of r: D = K·D̂ with K11 = ψ'⁻², K13 = K31 = ψ'⁻¹.
Coefficients in_flux_coordinate(const Coefficients& d, double psi_prime);

// What the program DKES prints: L11 = D11; L31 with √⟨B²⟩ in place of B00; L33 with the Spitzer
// part subtracted.
struct DkesOutput {
  double l11 = 0, l31 = 0, l33 = 0;
};
DkesOutput dkes_output(const Coefficients& d, const Geometry& geometry);

// Coefficients as other programs have them (d33_spitzer is 0).
enum class Normalisation {
  kDkes,    // what DKES prints: see DkesOutput; 13 by the factor of 31
  kMonkes,  // MONKES' and NTX's in the flux coordinate: D̂ of in_flux_coordinate()
  kSfincs,  // SFINCS' monoenergetic matrix L (Landreman and Smith)
};
std::string_view name_of(Normalisation normalisation);
std::string_view description_of(Normalisation normalisation);  // one line
// Throws UserError that lists the names.
Normalisation normalisation_from_name(std::string_view name);
Coefficients normalised(const Coefficients& d, const Geometry& geometry,
                        Normalisation normalisation);

// The dimensionless forms of the 2011 benchmark: ν* = ν̂R/|ι|, v_E* = Ê_r/B00, and D11*, D31* in
// units of the tokamak plateau and banana values, with R ≈ |B_ζ/B00| and ε_t ≈ r/R, r ≈ |ψ'/B00|.
struct BenchmarkStars {
  double nu_star = 0, v_e_star = 0, d11_star = 0, d31_star = 0;
};
BenchmarkStars benchmark_stars(const Coefficients& d, const Geometry& geometry, double nu_hat,
                               double er_hat);

}  // namespace assay::transport
