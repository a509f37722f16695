// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A flux surface: the magnetic field on it, as the solver needs it, in Boozer or VMEC angles.
//
// Symbols: θ poloidal and ζ toroidal angle; m, n their mode numbers, phase mθ + n·nfp·ζ (note the
// plus); ι rotational transform; ψ' = dψ/dr; B_θ, B_ζ covariant components. SI units: T, T·m, m.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::transport {

// Of a mode in a file, in either direction and by modulus: beyond it a file is damaged.
inline constexpr int kLargestModeNumber = 1000;
// Field periods that a source may have.
inline constexpr int kMostPeriods = 1000;

// One mode of a Fourier series: cosine·cos(mθ + n·nfp·ζ) + sine·sin(mθ + n·nfp·ζ).
struct Harmonic {
  int m = 0, n = 0;
  double cosine = 0, sine = 0;
};
using Series = std::vector<Harmonic>;

// The fields that in Boozer angles follow from B, ι, B_θ and B_ζ; in VMEC angles each has a cosine
// series of its own.
struct VmecFields {
  Series jacobian;  // of the coordinates (ψ, θ, ζ), of one sign on the surface
  Series b_sub_theta, b_sub_zeta;
  Series b_sup_theta, b_sup_zeta;
};

struct Surface {
  std::string name;
  int nfp = 1;
  double iota = 0;
  double psi_prime = 1;            // dψ/dr [T·m]
  double b_theta = 0, b_zeta = 0;  // Boozer angles only [T·m]
  int handedness = 1;              // Boozer angles only: the sign of the Jacobian of (ψ, θ, ζ)
  Series b;                        // |B| [T]
  std::optional<double> b0;        // B_00 [T]; absent: the mean of B over the grid
  std::optional<VmecFields> vmec;  // present: VMEC angles

  std::vector<std::string> notes;     // what was assumed of the source
  std::vector<std::string> warnings;  // what of it is not known well

  // 0 where the source does not say.
  double psi_n = 0;         // normalised toroidal flux of this surface
  double minor_radius = 0;  // a [m]
  double psi_edge = 0;      // modulus of the toroidal flux over 2π at the edge [Wb]

  // Whether B has no sine terms: stellarator symmetry, which the parity solver and D(−Ê) = D(Ê)
  // rest on.
  bool cosine_only() const;
};

// `example`, `sample_dkes`, `w7x_eim_sample`, `tokamak`.
const std::vector<std::string>& builtin_names();
// Throws UserError that lists the names.
Surface builtin_surface(std::string_view name);

// Drops modes with |B_mn| < min_bmn·|B_00| from every series of B; the mean stays.
void drop_small_modes(Surface& surface, double min_bmn);

// Adds a mode that somebody spelled. Throws UserError where m and n are not whole numbers up to
// kLargestModeNumber, and where the mode is there already, by its numbers or by their negatives,
// whose cosine is the same.
void add_mode(Series& b, double m, double n, double cosine, double sine);

// Throws UserError naming the surface and the value: nothing NaN or infinite, nfp ≥ 1, ψ' ≠ 0,
// B_ζ + ι·B_θ ≠ 0 (a Boozer Jacobian of zero), at least one mode.
void validate(const Surface& surface);

}  // namespace assay::transport
