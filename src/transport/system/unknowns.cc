// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/system/unknowns.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::transport {

int mirror_point(const Grid& grid, int r) {
  const int i = r % grid.n_theta, j = r / grid.n_theta;
  return (grid.n_theta - i) % grid.n_theta + (grid.n_zeta - j) % grid.n_zeta * grid.n_theta;
}

namespace {

Unknowns of_parity(const Geometry& geometry, double sign) {
  const int n = geometry.grid.points();
  const double half = 1 / std::numbers::sqrt2;
  Unknowns u;
  u.of_point.resize(static_cast<std::size_t>(n));
  int count = 0;
  for (int r = 0; r < n; ++r) {
    const int image = mirror_point(geometry.grid, r);
    if (image < r) continue;  // done with its partner
    if (image == r && sign < 0) continue;
    u.of_point[static_cast<std::size_t>(r)] = {count, image == r ? 1 : half, image == r ? 1 : half};
    if (image != r) {
      u.of_point[static_cast<std::size_t>(image)] = {count, sign * half, sign * half};
    }
    ++count;
    // A pair lies on the lines ζ_j and −ζ_j alike.
    const int i = r % geometry.grid.n_theta, j = r / geometry.grid.n_theta;
    u.theta_line.push_back(std::min(j, geometry.grid.n_zeta - j));
    u.zeta_line.push_back(std::min(i, geometry.grid.n_theta - i));
  }
  return u;
}

}  // namespace

Unknowns Unknowns::points(const Geometry& geometry) {
  Unknowns u;
  for (int r = 0; r < geometry.grid.points(); ++r) {
    u.of_point.push_back({r, 1, 1});
    u.theta_line.push_back(r / geometry.grid.n_theta);
    u.zeta_line.push_back(r % geometry.grid.n_theta);
  }
  return u;
}

Unknowns Unknowns::even(const Geometry& geometry) { return of_parity(geometry, 1); }
Unknowns Unknowns::odd(const Geometry& geometry) { return of_parity(geometry, -1); }

Unknowns Unknowns::weighted(const Geometry& geometry) const {
  Unknowns u = *this;
  for (std::size_t r = 0; r < u.of_point.size(); ++r) {
    const double root = std::sqrt(std::abs(geometry.jacobian[r]));
    u.of_point[r].restrict_weight *= root;
    u.of_point[r].expand_weight /= root;
  }
  return u;
}

std::vector<double> Unknowns::restrict_field(const Field& f) const {
  std::vector<double> u(static_cast<std::size_t>(count()));
  for (std::size_t r = 0; r < f.size(); ++r) {
    const auto& p = of_point[r];
    if (p.unknown >= 0) u[static_cast<std::size_t>(p.unknown)] += p.restrict_weight * f[r];
  }
  return u;
}

std::vector<double> Unknowns::restrict_functional(const Field& c) const {
  std::vector<double> u(static_cast<std::size_t>(count()));
  for (std::size_t r = 0; r < c.size(); ++r) {
    const auto& p = of_point[r];
    if (p.unknown >= 0) u[static_cast<std::size_t>(p.unknown)] += p.expand_weight * c[r];
  }
  return u;
}

Field Unknowns::expand(const std::vector<double>& u) const {
  Field f(of_point.size());
  for (std::size_t r = 0; r < f.size(); ++r) {
    const auto& p = of_point[r];
    if (p.unknown >= 0) f[r] = p.expand_weight * u[static_cast<std::size_t>(p.unknown)];
  }
  return f;
}

}  // namespace assay::transport
