// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace assay::transport {

// Energy integral of a monoenergetic coefficient over a Maxwellian,
//
//   I_n = (2/√π) ∫₀^∞ K^{n+1/2} e^{−K} D(ν̂(K)) dK,   ν̂(K) = ν̂_th K^{−2},
//
// K = v²/v_th², with ν/v falling as v⁻⁴ and D a table over ν̂ (ascending, all of one sign), which is
// interpolated as a power law between its points and held beyond them. `order` is n ≥ 0. Throws
// UserError: fewer than two points, not ascending, a zero or a change of sign.
double energy_integral(std::span<const double> nu_hat, std::span<const double> d,
                       double nu_hat_thermal, int order);

}  // namespace assay::transport
