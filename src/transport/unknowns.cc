// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/unknowns.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::transport {
namespace {

int mirror(const Grid& grid, int r) {
  const int i = r % grid.n_theta, j = r / grid.n_theta;
  return (grid.n_theta - i) % grid.n_theta + (grid.n_zeta - j) % grid.n_zeta * grid.n_theta;
}

Unknowns of_parity(const Geometry& geometry, double sign) {
  const int n = geometry.grid.points();
  const double half = 1 / std::numbers::sqrt2;
  Unknowns u;
  u.of_point.resize(static_cast<std::size_t>(n));
  int count = 0;
  for (int r = 0; r < n; ++r) {
    const int image = mirror(geometry.grid, r);
    if (image < r) continue;  // done with its partner
    auto& here = u.of_point[static_cast<std::size_t>(r)];
    if (image == r) {
      if (sign > 0) here = {count++, 1, 1};
      continue;
    }
    here = {count, half, half};
    u.of_point[static_cast<std::size_t>(image)] = {count, sign * half, sign * half};
    ++count;
  }
  return u;
}

}  // namespace

Unknowns Unknowns::points(const Geometry& geometry) {
  Unknowns u;
  for (int r = 0; r < geometry.grid.points(); ++r) u.of_point.push_back({r, 1, 1});
  return u;
}

Unknowns Unknowns::even(const Geometry& geometry) { return of_parity(geometry, 1); }
Unknowns Unknowns::odd(const Geometry& geometry) { return of_parity(geometry, -1); }

Unknowns Unknowns::weighted(const Geometry& geometry) const {
  Unknowns u = *this;
  for (std::size_t r = 0; r < u.of_point.size(); ++r) {
    const double root = std::sqrt(geometry.jacobian[r]);
    u.of_point[r].restrict_weight *= root;
    u.of_point[r].expand_weight /= root;
  }
  return u;
}

int Unknowns::count() const {
  int highest = -1;
  for (const auto& p : of_point) highest = std::max(highest, p.unknown);
  return highest + 1;
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

Combination<double> Unknowns::expansion() const {
  Combination<double> x{
      .inputs = count(), .outputs = static_cast<int>(of_point.size()), .width = 1};
  for (const auto& p : of_point) {
    x.source.push_back(std::max(p.unknown, 0));
    x.weight.push_back(p.unknown < 0 ? 0.0 : p.expand_weight);
  }
  return x;
}

}  // namespace assay::transport
