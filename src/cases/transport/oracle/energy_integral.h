// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace assay::cases::transport::oracle {

// I_n = (2/√π) ∫₀^∞ K^{n+1/2} e^{−K} D(ν̂_th K^{−2}) dK, to 1e-11, of a table D over ascending ν̂: a
// power law between two points, linear in ln ν̂ where D is zero or changes its sign, held beyond
// both ends. By Simpson's rule in ln √K, piece by piece.
double energy_integral(std::span<const double> nu_hat, std::span<const double> d,
                       double nu_hat_thermal, int order);

}  // namespace assay::cases::transport::oracle
