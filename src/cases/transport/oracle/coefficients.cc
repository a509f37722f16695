// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/oracle/coefficients.h"

#include <algorithm>
#include <cmath>

#include "cases/transport/oracle/block_factors.h"

namespace assay::cases::transport::oracle {
namespace {

constexpr int kSources = 2, kMostSweeps = 12;
constexpr double kDecided = 1e-15;

Real norm(const Equation::Vector& x) {
  Real sum = 0;
  for (const Real value : x) sum += value * value;
  return std::sqrt(sum);
}

// ‖a‖/‖b‖, 0 where there is nothing to compare.
double ratio(const Equation::Vector& a, const Equation::Vector& b) {
  const Real size = norm(a);
  return size == 0 ? 0 : static_cast<double>(size / norm(b));
}

}  // namespace

std::optional<Certified> solve(const Surface& surface, const Grid& grid, double nu_hat,
                               double er_hat) {
  const Equation equation(surface, grid, nu_hat, er_hat);
  const BlockFactors factors(equation);
  std::array<Equation::Vector, kSources> f, residual;
  for (int j = 0; j < kSources; ++j) {
    residual[static_cast<std::size_t>(j)] = equation.source(j);
    f[static_cast<std::size_t>(j)].assign(equation.source(j).size(), 0);
  }
  Certified result{};
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    std::vector<double> both;
    for (std::size_t i = 0; i < f[0].size(); ++i) {
      for (const auto& r : residual) both.push_back(static_cast<double>(r[i]));
    }
    factors.solve(kSources, both);
    result.residual = result.last_correction = 0;
    for (std::size_t j = 0; j < kSources; ++j) {
      Equation::Vector correction;
      for (std::size_t i = 0; i < f[j].size(); ++i) {
        correction.push_back(both[kSources * i + j]);
        f[j][i] += correction.back();
      }
      residual[j] = equation.residual(static_cast<int>(j), f[j]);
      const double left = ratio(residual[j], equation.source(static_cast<int>(j)));
      const double change = ratio(correction, f[j]);
      if (!std::isfinite(left) || !std::isfinite(change)) return std::nullopt;
      result.residual = std::max(result.residual, left);
      result.last_correction = std::max(result.last_correction, change);
    }
    if (result.last_correction <= kDecided) {
      result.d = equation.coefficients(f);
      return result;
    }
  }
  return std::nullopt;
}

bool is_rational(const Surface& surface, const Grid& grid) {
  const int most_m = (grid.n_theta - 1) / 2, most_n = (grid.n_zeta - 1) / 2;
  for (int m = 0; m <= most_m; ++m) {
    for (int n = -most_n; n <= most_n; ++n) {
      if (m == 0 && n == 0) continue;
      if (std::abs(surface.iota * m + n * surface.nfp) < 1e-3) return true;
    }
  }
  return false;
}

double flops(const Grid& grid) {
  return 8.0 / 3 * (grid.n_xi + 1) * std::pow(static_cast<double>(grid.points()), 3);
}

double bytes(const Grid& grid) {
  return 8.0 * (grid.n_xi + 3) * std::pow(static_cast<double>(grid.points()), 2);
}

}  // namespace assay::cases::transport::oracle
