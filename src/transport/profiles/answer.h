// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Profiles in, answers out: `answer` tells the story of one radius.

#include <string>
#include <vector>

#include "transport/profiles/fluxes.h"
#include "transport/profiles/input.h"
#include "transport/scan/scan.h"

namespace assay::transport {

struct RadiusAnswer {
  double rho = 0, r = 0;  // r [m]
  double coulomb_logarithm = 0;
  std::vector<Species> species;
  double er = 0;        // [V/m] at which the fluxes are; NaN where none was found
  RadiusFluxes fluxes;  // species empty where er is NaN
  Ambipolar search;     // every root in the range
  double b0 = 0, mean_b2 = 0;
  // Relative change of ⟨j·B⟩ and of the fluxes …
  double laguerre_change = 0;  // … from one Laguerre term fewer
  double table_change = 0;     // … from every second ν̂ of the table left out
  std::vector<std::string> warnings;
};

// A share of the integrand beyond the table above this is a warning.
inline constexpr double kOutsideWarning = 0.01;

RadiusAnswer answer(const ProfilesInput& input, const CoefficientTable& table);

// Solves the table of a surface: the scan, and its Pfirsch–Schlüter limit.
CoefficientTable make_table(const Surface& surface, const Grid& grid, double rho, double r,
                            const std::vector<double>& nu_hat, const std::vector<double>& er_hat,
                            const ScanOptions& options, std::vector<std::string>& warnings);

}  // namespace assay::transport
