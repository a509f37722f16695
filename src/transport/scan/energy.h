// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace assay::transport {

// Energy integral of a monoenergetic coefficient over a Maxwellian,
//
//   I_n = (2/√π) ∫₀^∞ K^{n+1/2} e^{−K} D(ν̂(K)) dK,   ν̂(K) = ν̂_th K^{−2},
//
// K = v²/v_th², with ν/v falling as v⁻⁴ and D a table over ν̂ (ascending). Between its points D is a
// power law, or linear in ln ν̂ where it is zero or changes its sign; beyond them it is held. That
// function is integrated to 1e-12. `order` is n ≥ 0. Throws UserError: fewer than two points, ν̂ not
// positive and ascending, D or ν̂_th not finite.
double energy_integral(std::span<const double> nu_hat, std::span<const double> d,
                       double nu_hat_thermal, int order);

}  // namespace assay::transport
