// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/surface/geometry.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"

namespace assay::transport {
namespace {

using std::numbers::pi;

struct Evaluated {
  Field value, dtheta, dzeta;
};

// Σ cosine·cos(φ) + sine·sin(φ), φ = mθ + n·nfp·ζ, and its derivatives. The phase is an integer
// multiple of 2π/(n_θ n_ζ), so it is reduced exactly before the cosine is taken: symmetric points
// get equal values, whatever the mode numbers.
Evaluated evaluate(const Series& series, const Grid& grid, int nfp) {
  const auto points = static_cast<std::size_t>(grid.points());
  Evaluated e{Field(points), Field(points), Field(points)};
  const long long total = grid.points();
  std::vector<double> cosine(points), sine(points);
  for (long long p = 0; p < total; ++p) {
    const double phi = 2 * pi * static_cast<double>(p) / static_cast<double>(total);
    cosine[static_cast<std::size_t>(p)] = std::cos(phi);
    sine[static_cast<std::size_t>(p)] = std::sin(phi);
  }
  for (const auto& h : series) {
    for (int j = 0; j < grid.n_zeta; ++j) {
      for (int i = 0; i < grid.n_theta; ++i) {
        const long long turns = static_cast<long long>(h.m) * i * grid.n_zeta +
                                static_cast<long long>(h.n) * j * grid.n_theta;
        const auto p = static_cast<std::size_t>(((turns % total) + total) % total);
        const auto r = static_cast<std::size_t>(i + j * grid.n_theta);
        e.value[r] += h.cosine * cosine[p] + h.sine * sine[p];
        const double slope = -h.cosine * sine[p] + h.sine * cosine[p];
        e.dtheta[r] += h.m * slope;
        e.dzeta[r] += h.n * nfp * slope;
      }
    }
  }
  return e;
}

void fill_boozer(const Surface& s, Geometry& g) {
  const std::size_t n = g.points();
  g.b_sub_theta.assign(n, s.b_theta);
  g.b_sub_zeta.assign(n, s.b_zeta);
  for (std::size_t r = 0; r < n; ++r) {
    const double volume = std::abs(s.b_zeta + s.iota * s.b_theta) / (g.b[r] * g.b[r]);
    g.jacobian.push_back(s.handedness * volume);
    g.b_sup_theta.push_back(s.iota / volume);
    g.b_sup_zeta.push_back(1 / volume);
  }
}

void fill_vmec(const Surface& s, Geometry& g) {
  const auto field = [&](const Series& series) { return evaluate_on(g.grid, series, s.nfp); };
  g.jacobian = field(s.vmec->jacobian);
  g.b_sub_theta = field(s.vmec->b_sub_theta);
  g.b_sub_zeta = field(s.vmec->b_sub_zeta);
  g.b_sup_theta = field(s.vmec->b_sup_theta);
  g.b_sup_zeta = field(s.vmec->b_sup_zeta);
}

}  // namespace

void validate(const Grid& grid) {
  if (grid.n_theta < 3) fail("n_theta must be at least 3, got {}", grid.n_theta);
  if (grid.n_zeta < 3) fail("n_zeta must be at least 3, got {}", grid.n_zeta);
  if (grid.n_xi < 2) fail("n_xi must be at least 2, got {}", grid.n_xi);
  if (grid.n_xi > 10000) fail("n_xi must be at most 10000, got {}", grid.n_xi);
  if (grid.n_theta > 32768 || grid.n_zeta > 32768 || grid.points() > 32768) {
    fail("n_theta*n_zeta must be at most 32768, got {}*{}", grid.n_theta, grid.n_zeta);
  }
}

Field evaluate_on(const Grid& grid, const Series& series, int nfp) {
  return evaluate(series, grid, nfp).value;
}

double Geometry::average(const Field& a) const {
  double sum = 0;
  for (std::size_t r = 0; r < a.size(); ++r) sum += jacobian[r] * a[r];
  return sum / jacobian_sum;
}

Geometry make_geometry(const Surface& s, const Grid& grid) {
  validate(s);
  validate(grid);
  Geometry g;
  g.grid = grid;
  g.nfp = s.nfp;
  g.iota = s.iota;
  g.psi_prime = s.psi_prime;
  g.cosine_only = s.cosine_only();

  auto field = evaluate(s.b, grid, s.nfp);
  g.b = std::move(field.value);
  g.db_dtheta = std::move(field.dtheta);
  g.db_dzeta = std::move(field.dzeta);
  s.vmec ? fill_vmec(s, g) : fill_boozer(s, g);

  double sum_b = 0;
  for (std::size_t r = 0; r < g.points(); ++r) {
    const double b = g.b[r], jacobian = g.jacobian[r];
    if (!(b > 0)) fail("surface '{}': B must be positive everywhere, got {}", s.name, b);
    if (!(std::abs(jacobian) > 0)) {
      fail("surface '{}': the Jacobian must not vanish, got {}", s.name, jacobian);
    }
    if ((jacobian > 0) != (g.jacobian[0] > 0)) {
      fail("surface '{}': the Jacobian must have one sign on the surface, got {} and {}", s.name,
           g.jacobian[0], jacobian);
    }
    g.drift.push_back((g.b_sub_theta[r] * g.db_dzeta[r] - g.b_sub_zeta[r] * g.db_dtheta[r]) /
                      (jacobian * b * b * b));
    g.gradient.push_back(g.b_sup_theta[r] * g.db_dtheta[r] + g.b_sup_zeta[r] * g.db_dzeta[r]);
    g.jacobian_sum += jacobian;
    g.mean_b2 += jacobian * b * b;
    sum_b += b;
  }
  g.mean_b2 /= g.jacobian_sum;
  g.b0 = s.b0.value_or(sum_b / static_cast<double>(g.points()));
  if (s.vmec) g.iota = g.average(g.b_sup_theta) / g.average(g.b_sup_zeta);
  return g;
}

std::vector<double> derivative_matrix(int n, double period) {
  std::vector<double> d(static_cast<std::size_t>(n) * n);
  for (int j = 0; j < n; ++j) {
    for (int l = 0; l < n; ++l) {
      if (j == l) continue;
      const double angle = pi * (j - l) / n;
      const double sign = (j - l) % 2 == 0 ? 1 : -1;
      d[static_cast<std::size_t>(j) * n + l] =
          pi / period * sign * (n % 2 == 1 ? 1 / std::sin(angle) : 1 / std::tan(angle));
    }
  }
  return d;
}

SmallDivisor smallest_divisor(const Geometry& g) {
  SmallDivisor smallest{0, 0, std::numeric_limits<double>::infinity()};
  for (int m = 0; m <= (g.grid.n_theta - 1) / 2; ++m) {
    const int highest = (g.grid.n_zeta - 1) / 2;
    for (int n = -highest; n <= highest; ++n) {
      if (m == 0 && n <= 0) continue;  // (−m, −n) is the same mode
      const double value = std::abs(g.iota * m + n * g.nfp);
      if (value < smallest.value) smallest = {m, n, value};
    }
  }
  return smallest;
}

}  // namespace assay::transport
