// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/oracle/energy_integral.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::cases::transport::oracle {
namespace {

// ∫ of f(x) dx from a to b by Simpson's rule in u = ln x, where dx = x du.
template <typename Function>
double simpson_in_log(double a, double b, const Function& f) {
  if (!(a < b)) return 0;
  const int intervals = 2 * static_cast<int>(std::ceil(std::log(b / a) / 1e-3));
  const double first = std::log(a), step = (std::log(b) - first) / intervals;
  double sum = 0;
  for (int i = 0; i <= intervals; ++i) {
    const double x = std::exp(first + step * i);
    sum += (i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2) * x * f(x);
  }
  return sum * step / 3;
}

}  // namespace

// With K = x². What lies below 1e-5 of the first point is its cube or less, 1e-15 of the first
// piece, and beyond 9 there is e^{−81}. Steps h of 5e-4 in ln x leave h⁴/180 times a fourth
// derivative of 1e4 or so: 4e-12.
double energy_integral(std::span<const double> nu, std::span<const double> d, double thermal,
                       int order) {
  constexpr double kEnd = 9;
  const auto x_of = [&](double v) { return std::min(kEnd, std::sqrt(std::sqrt(thermal / v))); };
  const auto weight = [&](double x) { return 2 * std::pow(x, 2 * order + 2) * std::exp(-x * x); };
  const double low = x_of(nu.back()), high = x_of(nu.front());
  double sum = d.back() * simpson_in_log(1e-5 * low, low, weight) +
               d.front() * simpson_in_log(high, kEnd, weight);
  for (std::size_t i = 0; i + 1 < nu.size(); ++i) {
    sum += simpson_in_log(x_of(nu[i + 1]), x_of(nu[i]), [&](double x) {
      const double at = thermal * std::pow(x, -4);
      const double t = std::log(at / nu[i]) / std::log(nu[i + 1] / nu[i]);
      const bool is_power = d[i] * d[i + 1] > 0;
      return weight(x) *
             (is_power ? d[i] * std::pow(d[i + 1] / d[i], t) : d[i] + t * (d[i + 1] - d[i]));
    });
  }
  return 2 * std::numbers::inv_sqrtpi * sum;
}

}  // namespace assay::cases::transport::oracle
