// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Radial fields at which no current crosses the surface.

#include <string_view>
#include <vector>

#include "transport/profiles/fluxes.h"

namespace assay::transport {

enum class RootKind { kIon, kUnstable, kElectron };
std::string_view name_of(RootKind kind);  // "ion", "unstable", "electron"

struct Root {
  double er = 0;     // [V/m]
  double slope = 0;  // dJ_r/dE_r [A/(V m)]; stable where positive: ∂E_r/∂t ∝ −J_r
  bool stable = false;
  // A root that is not stable is kUnstable. Of two or more stable ones the lowest is the ion root
  // and the highest the electron root; one alone has its name from its sign (positive: electron).
  RootKind kind = RootKind::kIon;
};

struct Ambipolar {
  std::vector<Root> roots;          // ascending
  std::vector<double> er, current;  // J_r where it was looked at
  // max |J_r| over the range over max Σ|qΓ| of the plain fluxes: in a (quasi-)symmetric field with
  // momentum conserved it is rounding, and no E_r is determined.
  double relative_current = 0;
  bool determined = true;  // relative_current above 1e-3 (and roots looked for)
};

struct AmbipolarOptions {
  double least = -5e4, most = 5e4;  // [V/m]
  int points = 161;                 // where J_r is looked at; each sign change is one root
  bool corrected = true;
  double e_parallel = 0;
};

// Every sign change of J_r between neighbouring points (denser towards E_r = 0), by bisection and
// secants to 1e-10 of the range. Throws UserError: a range without an inside, fewer than 3 points.
Ambipolar ambipolar(const RadiusProblem& problem, const AmbipolarOptions& options = {});

}  // namespace assay::transport
