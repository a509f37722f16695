// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "cases/transport/oracle/equation.h"

namespace assay::cases::transport::oracle {

// What the oracle vouches for.
struct Certified {
  std::array<double, 4> d;  // D11, D31, D13, D33
  double residual;  // the larger ‖s − A f‖/‖s‖ of both sources, in extended precision
  double last_correction;  // the larger ‖δf‖/‖f‖ of the last sweep: what is left undecided of f
};

// Solves the equation for both drives: eliminated in f64, then corrected with residuals in extended
// precision until the correction is below 1e-15 of f. Nothing where it does not get there: then the
// system has no answer that could be judged.
std::optional<Certified> solve(const Surface& surface, const Grid& grid, double nu_hat,
                               double er_hat);

// Whether the equation of P_0 has a second null vector at zero field: a mode of the grid that turns
// with the field lines, |ι m + n·nfp| < 1e-3. D11 is then rounding noise in f64.
bool is_rational(const Surface& surface, const Grid& grid);

// Flops and bytes of a solve: (8/3)N³ for each k, and a block of f64 kept for each.
double flops(const Grid& grid);
double bytes(const Grid& grid);

}  // namespace assay::cases::transport::oracle
