// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/energy.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace assay::transport {
namespace {

double interpolate(std::span<const double> nu, std::span<const double> d, double at) {
  if (at <= nu.front()) return d.front();
  if (at >= nu.back()) return d.back();
  const auto above = static_cast<std::size_t>(std::ranges::upper_bound(nu, at) - nu.begin());
  const double t = std::log(at / nu[above - 1]) / std::log(nu[above] / nu[above - 1]);
  return d[above - 1] * std::pow(d[above] / d[above - 1], t);
}

}  // namespace

double energy_integral(std::span<const double> nu_hat, std::span<const double> d,
                       double nu_hat_thermal, int order) {
  if (nu_hat.size() < 2 || nu_hat.size() != d.size()) {
    fail("an energy integral needs two points or more, got {}", nu_hat.size());
  }
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (!(nu_hat[i] > 0) || (i > 0 && nu_hat[i] <= nu_hat[i - 1])) {
      fail("nu_hat must be positive and ascending, got {}", nu_hat[i]);
    }
    if (!(d[i] * d[0] > 0)) fail("a coefficient must not change its sign, got {}", d[i]);
  }
  if (!(nu_hat_thermal > 0)) fail("nu_hat must be positive, got {}", nu_hat_thermal);
  // K = x²: 2x^{2n+2} e^{−x²} is smooth and dies off at both ends, where trapezoids are exact to
  // rounding for a smooth D.
  constexpr double step = 1.0 / 64, end = 8;
  double sum = 0;
  for (double x = step; x < end; x += step) {
    const double k = x * x;
    sum += 2 * std::pow(x, 2 * order + 2) * std::exp(-k) *
           interpolate(nu_hat, d, nu_hat_thermal / (k * k));
  }
  return 2 / std::sqrt(std::numbers::pi) * sum * step;
}

}  // namespace assay::transport
