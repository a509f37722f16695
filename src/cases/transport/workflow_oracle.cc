// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "cases/transport/workflow.h"

namespace assay::cases::transport {
namespace {

// ∫ of f(x) dx from a to b by Simpson's rule in u = ln x, where dx = x du.
template <typename Function>
double simpson_in_log(double a, double b, int intervals, const Function& f) {
  if (!(a < b)) return 0;
  const double first = std::log(a), step = (std::log(b) - first) / intervals;
  double sum = 0;
  for (int i = 0; i <= intervals; ++i) {
    const double x = std::exp(first + step * i);
    sum += (i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2) * x * f(x);
  }
  return sum * step / 3;
}

// The definition in transport/energy.h with K = x². What lies below 1e-5 of the first point is its
// cube or less, 1e-15 of the first piece, and beyond 9 there is e^{−81}. Steps h of 5e-4 in ln x
// leave h⁴/180 times a fourth derivative of 1e4 or so: 4e-12.
double plain_integral(const std::vector<double>& nu, const std::vector<double>& d, double thermal,
                      int order) {
  constexpr double kEnd = 9;
  const auto x_of = [&](double v) { return std::min(kEnd, std::sqrt(std::sqrt(thermal / v))); };
  const auto weight = [&](double x) { return 2 * std::pow(x, 2 * order + 2) * std::exp(-x * x); };
  const auto intervals = [](double a, double b) {
    return a < b ? 2 * static_cast<int>(std::ceil(std::log(b / a) / 1e-3)) : 0;
  };
  const double low = x_of(nu.back()), high = x_of(nu.front());
  double sum = d.back() * simpson_in_log(1e-5 * low, low, intervals(1e-5 * low, low), weight) +
               d.front() * simpson_in_log(high, kEnd, intervals(high, kEnd), weight);
  for (std::size_t i = 0; i + 1 < nu.size(); ++i) {
    const double a = x_of(nu[i + 1]), b = x_of(nu[i]);
    sum += simpson_in_log(a, b, intervals(a, b), [&](double x) {
      const double at = thermal * std::pow(x, -4);
      const double t = std::log(at / nu[i]) / std::log(nu[i + 1] / nu[i]);
      const bool is_power = d[i] * d[i + 1] > 0;
      return weight(x) *
             (is_power ? d[i] * std::pow(d[i + 1] / d[i], t) : d[i] + t * (d[i + 1] - d[i]));
    });
  }
  return 2 * std::numbers::inv_sqrtpi * sum;
}

}  // namespace

std::vector<lab::Expectation> workflow_expectations(const TransportPoint& point, int set) {
  auto coefficients = expectation(point, set, point.cases);
  const auto cases = point.inputs(set);
  const auto fields = static_cast<std::size_t>(point.fields);
  lab::Expectation e = coefficients;
  e.output = "i";
  e.shape = {point.fields * kThermal, kCoefficients * kOrders};
  e.rows.clear();
  e.values.clear();
  e.baseline.clear();
  e.sample_seed.reset();
  e.oracle = "Simpson's rule in ln x over refined coefficients";
  // By case: where its coefficients stand among the values, if no solver is left to doubt them.
  std::vector<const double*> known(cases.size(), nullptr);
  for (std::size_t r = 0; r < coefficients.rows.size(); ++r) {
    known[static_cast<std::size_t>(coefficients.rows[r])] = &coefficients.values[kCoefficients * r];
  }
  const auto thermal = thermal_collisionalities(point, set);
  for (std::size_t f = 0; f < fields; ++f) {
    std::vector<double> nu;
    std::vector<std::vector<double>> tables(kCoefficients);
    bool is_known = true;
    for (std::size_t i = f; i < cases.size(); i += fields) {
      is_known &= known[i] != nullptr;
      if (!is_known) break;
      nu.push_back(cases[i].nu_hat);
      for (std::size_t c = 0; c < kCoefficients; ++c) tables[c].push_back(known[i][c]);
    }
    if (!is_known) {
      e.sample_seed = 0;
      continue;
    }
    for (std::size_t t = 0; t < kThermal; ++t) {
      e.rows.push_back(static_cast<std::int64_t>(f * kThermal + t));
      for (const auto& table : tables) {
        for (int order = 0; order < kOrders; ++order) {
          e.values.push_back(plain_integral(nu, table, thermal[t], order));
        }
      }
    }
  }
  return {std::move(coefficients), std::move(e)};
}

}  // namespace assay::cases::transport
