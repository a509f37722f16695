// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The input file of `assay transport profiles`.
//
//   [plasma]    coulomb_logarithm (from n_e and T_e where left out), laguerre_terms = 3,
//               minor_radius [m] (with [[surface]]), rho = […] (which surfaces; all)
//   [[species]] name ("e", "H", "D", "T", "He", or any with mass [u] and charge [e]);
//               density [1/m³], temperature [eV]: a number, {polynomial = [c0, c1, …]} in powers of
//               rho, or {rho = […], value = […]}. One species may leave its density out: it makes
//               the plasma neutral.
//   [field]     er = "ambipolar" (default), or a profile [V/m]; range = [−5e4, 5e4], points = 161,
//               root = "ion" or "electron"; momentum_correction = true; e_parallel = ⟨E·B⟩/B0 [V/m]
//   [[surface]] in place of a database: rho, and what [surface] of a run has
//   [grid], [table] nu_hat = […], er_hat = […]: what is solved on those surfaces

#include <optional>
#include <string>
#include <vector>

#include "transport/profiles/ambipolar.h"
#include "transport/scan/input.h"

namespace assay::transport {

// A quantity over rho.
class Profile {
 public:
  static Profile constant(double value) { return polynomial({value}); }
  static Profile polynomial(std::vector<double> coefficients);  // Σ c_k ρ^k
  // A smooth curve through points (curve.h); beyond them refused by whoever reads the file.
  static Profile points(std::vector<double> rho, std::vector<double> values);

  double at(double rho) const;
  double slope(double rho) const;  // d/dρ
  // Where it is known.
  double first() const { return rho_.empty() ? 0 : rho_.front(); }
  double last() const { return rho_.empty() ? 1 : rho_.back(); }

 private:
  std::vector<double> rho_, values_;  // rho_ empty: values_ are coefficients
};

struct SpeciesProfiles {
  std::string name;
  double mass = 0, charge = 0;     // [kg], [C]
  std::optional<Profile> density;  // absent: from neutrality
  Profile temperature;             // [eV]
};

struct ProfilesInput {
  std::string path, text;
  std::vector<SpeciesProfiles> species;
  std::optional<double> coulomb_logarithm;
  int laguerre_terms = 3;
  std::optional<double> minor_radius;
  std::vector<double> rho;    // empty: all
  std::optional<Profile> er;  // absent: ambipolar
  AmbipolarOptions search;    // its `corrected` is [field] momentum_correction
  RootKind root = RootKind::kIon;

  struct SurfaceAt {
    double rho = 0;
    SurfaceRequest surface;
  };
  std::vector<SurfaceAt> surfaces;
  Grid grid;
  std::vector<double> nu_hat, er_hat;

  // The species at a radius, gradients by r = ρ·minor_radius. Throws UserError: a density or
  // temperature that is not positive, a place where a profile is not known, a plasma that is not
  // neutral to 1e-3.
  std::vector<Species> species_at(double rho, double minor_radius) const;
};

// Throws UserError "FILE:LINE: KEY: …".
ProfilesInput parse_profiles(std::string text, const std::string& path);
ProfilesInput read_profiles(const std::string& path);

}  // namespace assay::transport
