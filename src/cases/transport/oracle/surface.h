// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The suite's flux surfaces as the oracle knows them: written down a second time, so that a wrong
// digit in the engine's table is a wrong result.

#include <cfloat>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::cases::transport::oracle {

// The oracle's arithmetic. Its answers are held to 1e-10, which needs more than f64 at low ν̂.
using Real = long double;
static_assert(LDBL_MANT_DIG >= 64, "the oracle needs a long double beyond f64");

// B_mn cos(mθ + n·nfp·ζ), m and n, in tesla. Boozer angles, SI units.
struct Mode {
  int m = 0, n = 0;
  double b = 0;
};

struct Surface {
  int nfp = 1;
  double iota = 0, psi_prime = 1;  // ψ' = dψ/dr
  double b_theta = 0, b_zeta = 0;  // covariant components of B
  std::optional<double> b0;        // absent: the mean of B over the grid
  std::vector<Mode> b;
};

// Throws UserError for a name that is not in the table.
const Surface& surface(std::string_view name);

// B_00 of the series, which a file of the surface gives as B0.
double mean_mode(const Surface& surface);

}  // namespace assay::cases::transport::oracle
