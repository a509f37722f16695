// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Monoenergetic coefficients of one surface as functions of ν̂ = ν/v and Ê_r = E_r/v: from a table
// that a scan or a database holds, or from a formula.

#include <functional>
#include <string>
#include <vector>

namespace assay::transport {

// The normalisation is that of transport/solver/coefficients.h, in the radius r.
struct MonoenergeticPoint {
  double d11 = 0, d31 = 0, d13 = 0;
  double share = 1;      // D33 over its Spitzer value, in (0, 1]
  bool outside = false;  // beyond what is tabulated
};

// What energy integrals need of a surface.
struct Monoenergetic {
  double rho = 0;      // √ψ_n
  double r = 0;        // [m]; gradients are d/dr of this r
  double b0 = 1;       // [T]
  double mean_b2 = 1;  // ⟨B²⟩ [T²]
  // lim D11/ν̂ for ν̂ → ∞ [1/T²]: friction on the Pfirsch–Schlüter flow.
  double pfirsch_schlueter = 0;
  std::function<MonoenergeticPoint(double nu_hat, double er_hat)> at;  // ν̂ > 0, any sign of Ê_r
  std::vector<std::string> warnings;                                   // what the table cannot tell
};

// Values over ν̂ × Ê_r, ν̂ slowest.
struct CoefficientTable {
  double rho = 0, r = 0, b0 = 1;
  std::vector<double> nu_hat, er_hat;  // ascending; er_hat ≥ 0
  std::vector<double> d11, d31, d13, d33, d33_spitzer;
  double pfirsch_schlueter = 0;  // 0: from the table's two highest ν̂
};

// The table as functions. D(−Ê) = D(Ê). With t = 1 − D33/D33_Sp, what is interpolated (cubic
// Hermite pieces in ln ν̂, and in asinh of the field over its lowest tabulated value) are ln t, and
// D31/t, D13/t, which are bounded and smooth where D31 itself falls as ν̂⁻², and the logarithm of
// (D11/ν̂ − P)/t where the limit P is given, of D11 where it is not; where some of them are not
// positive, plain values. In a symmetric field all of these ratios are constants. Beyond the table
// logarithms go on along the last interval: D11 as a power of ν̂ between −1 and 1, t between −2 and
// 0 (at most t = 1); ratios are held. Throws UserError: fewer than three ν̂, axes that do not
// ascend, values that are not finite, a D33 that is not positive.
Monoenergetic interpolated(const CoefficientTable& table);

}  // namespace assay::transport
