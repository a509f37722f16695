// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/solver/coefficients.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace assay::transport {

Coefficients coefficients_of(const Geometry& g, const double (&value)[2][2]) {
  const double psi = g.psi_prime;
  Coefficients d;
  d.d11 = value[0][0] / (psi * psi);
  d.d31 = value[1][0] / (psi * g.b0);
  d.d13 = value[0][1] / (psi * g.b0);
  d.d33 = value[1][1] / (g.b0 * g.b0);
  return d;
}

double onsager_residual(const Coefficients& d) {
  const double scale = std::max(std::abs(d.d31), std::abs(d.d13));
  return scale == 0 ? 0 : std::abs(d.d31 + d.d13) / scale;
}

std::array<std::array<double, 3>, 3> full_matrix(const Coefficients& d) {
  return {{{d.d11, d.d11, d.d13}, {d.d11, d.d11, d.d13}, {d.d31, d.d31, d.d33}}};
}

Coefficients in_flux_coordinate(const Coefficients& d, double psi_prime) {
  return {d.d11 * psi_prime * psi_prime, d.d31 * psi_prime, d.d13 * psi_prime, d.d33,
          d.d33_spitzer};
}

DkesOutput dkes_output(const Coefficients& d, const Geometry& g) {
  const double ratio = g.b0 / std::sqrt(g.mean_b2);
  return {d.d11, d.d31 * ratio, (d.d33_spitzer - d.d33) * ratio * ratio};
}

std::string_view name_of(Normalisation normalisation) {
  return normalisation == Normalisation::kDkes     ? "dkes"
         : normalisation == Normalisation::kMonkes ? "monkes"
                                                   : "sfincs";
}

std::string_view description_of(Normalisation normalisation) {
  return normalisation == Normalisation::kDkes
             ? "sqrt<B^2> in place of B0, 33 with the Spitzer part subtracted"
         : normalisation == Normalisation::kMonkes
             ? "in the flux coordinate psi: 11 times psi'^2, 31 and 13 times psi'"
             : "L of SFINCS' monoenergetic runs";
}

Normalisation normalisation_from_name(std::string_view name) {
  for (const auto n : {Normalisation::kDkes, Normalisation::kMonkes, Normalisation::kSfincs}) {
    if (name == name_of(n)) return n;
  }
  fail("expected dkes, monkes or sfincs, got '{}'", name);
}

// SFINCS' with G = B_ζ, I = B_θ and B00 in place of its reference field: Landreman's and Smith's
// factors, as in a database.
Coefficients normalised(const Coefficients& d, const Geometry& g, Normalisation normalisation) {
  if (normalisation == Normalisation::kDkes) {
    const auto o = dkes_output(d, g);
    return {o.l11, o.l31, d.d13 * g.b0 / std::sqrt(g.mean_b2), o.l33};
  }
  const auto flux = in_flux_coordinate(d, g.psi_prime);
  if (normalisation == Normalisation::kMonkes) return {flux.d11, flux.d31, flux.d13, flux.d33};
  const double zeta = g.average(g.b_sub_zeta), theta = g.average(g.b_sub_theta);
  const double current = zeta + g.iota * theta, root_pi = std::sqrt(std::numbers::pi);
  const double by_drift = 4 * g.b0 / (root_pi * zeta);
  return {8 * current * g.b0 / (root_pi * zeta * zeta) * flux.d11, by_drift * flux.d31,
          by_drift * flux.d13, -2 * g.b0 / (current * root_pi) * flux.d33};
}

BenchmarkStars benchmark_stars(const Coefficients& d, const Geometry& g, double nu_hat,
                               double er_hat) {
  const double b0 = std::abs(g.b0), iota = std::abs(g.iota);
  const double major = std::abs(g.average(g.b_sub_zeta)) / b0;
  const double aspect = std::abs(g.psi_prime) / b0 / major;  // ε_t
  const double passing = 1 - 1.46 * std::sqrt(aspect);
  return {nu_hat * major / iota, er_hat / g.b0,
          d.d11 * 8 * major * b0 * b0 * iota / std::numbers::pi,
          d.d31 * 1.5 * iota * aspect * b0 / (1 - passing)};
}

}  // namespace assay::transport
