// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/oracle/equation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace assay::cases::transport::oracle {
namespace {

constexpr Real kPi = std::numbers::pi_v<Real>;

// B and its gradient in the angles.
struct FieldStrength {
  Real b = 0, by_theta = 0, by_zeta = 0;
};

FieldStrength field_at(const Surface& s, Real theta, Real zeta) {
  FieldStrength f;
  for (const auto& mode : s.b) {
    const Real turns = mode.n * s.nfp, phase = mode.m * theta + turns * zeta;
    f.b += mode.b * std::cos(phase);
    f.by_theta -= mode.b * mode.m * std::sin(phase);
    f.by_zeta -= mode.b * turns * std::sin(phase);
  }
  return f;
}

}  // namespace

// Through values y_l goes Σ_l y_l φ(x − x_l), φ = (1/n) Σ_m e^{imωx}. The highest mode of an even n
// is a cosine, whose slope at the points is 0.
std::vector<Real> Equation::derivative(int n, Real period) {
  const Real omega = 2 * kPi / period;
  std::vector<Real> slope_at(static_cast<std::size_t>(n));
  for (int apart = 0; apart < n; ++apart) {
    Real sum = 0;
    for (int m = 1; 2 * m < n; ++m) {
      sum -= 2 * m * omega * std::sin(2 * kPi * (m * apart % n) / n) / n;
    }
    slope_at[static_cast<std::size_t>(apart)] = sum;
  }
  std::vector<Real> d;
  for (int j = 0; j < n; ++j) {
    for (int l = 0; l < n; ++l) d.push_back(slope_at[static_cast<std::size_t>((j - l + n) % n)]);
  }
  return d;
}

Equation::Equation(const Surface& s, const Grid& grid, double nu_hat, double er_hat)
    : grid_(grid), nu_hat_(nu_hat), psi_prime_(s.psi_prime) {
  check(grid.n_theta >= 3 && grid.n_zeta >= 3 && grid.n_xi >= 2, "the least grid is 3 × 3 × 2");
  const PitchAngle xi(grid.n_xi);
  for (int l = 0; l <= top(); ++l) {
    streaming_.emplace_back();
    mirror_.emplace_back();
    for (int k = std::max(0, l - 1); k <= std::min(top(), l + 1); ++k) {
      streaming_.back()[static_cast<std::size_t>(k - l + 1)] = k == l ? 0 : xi.streaming(l, k);
      mirror_.back()[static_cast<std::size_t>(k - l + 1)] = k == l ? 0 : xi.mirror(l, k);
    }
    scattering_.push_back(xi.scattering(l, l));
  }
  d_theta_ = derivative(grid.n_theta, 2 * kPi);
  d_zeta_ = derivative(grid.n_zeta, 2 * kPi / s.nfp);

  const Real epsi_hat = static_cast<Real>(er_hat) / s.psi_prime;
  std::vector<Real> strength, drift, jacobian;
  Real jacobian_sum = 0, b2_sum = 0, b_sum = 0;
  for (int j = 0; j < grid.n_zeta; ++j) {
    for (int i = 0; i < grid.n_theta; ++i) {
      const auto f = field_at(s, 2 * kPi * i / grid.n_theta, 2 * kPi * j / (s.nfp * grid.n_zeta));
      // ∇ψ×∇θ·∇ζ = 1/J; B·∇θ = ι/J and B·∇ζ = 1/J, and B = B_θ∇θ + B_ζ∇ζ across ∇ψ.
      const Real g = std::abs(s.b_zeta + static_cast<Real>(s.iota) * s.b_theta) / (f.b * f.b);
      const std::array<Real, 2> along = {s.iota / g / f.b, 1 / g / f.b};
      const std::array<Real, 2> b_cross_grad_psi = {s.b_zeta / g, -s.b_theta / g};
      along_.push_back(along);
      across_.push_back({-epsi_hat * b_cross_grad_psi[0], -epsi_hat * b_cross_grad_psi[1]});
      half_divergence_.push_back(-(along[0] * f.by_theta + along[1] * f.by_zeta) / f.b / 2);
      drift.push_back(-(b_cross_grad_psi[0] * f.by_theta + b_cross_grad_psi[1] * f.by_zeta) /
                      (f.b * f.b * f.b));
      strength.push_back(f.b);
      jacobian.push_back(g);
      jacobian_sum += g;
      b2_sum += g * f.b * f.b;
      b_sum += f.b;
    }
  }
  b0_ = s.b0 ? static_cast<Real>(*s.b0) : b_sum / points();
  for (auto& factors : across_) {
    for (auto& factor : factors) factor /= b2_sum / jacobian_sum;
  }

  const auto radial = [](Real x) { return -(1 + x * x) / 2; };
  const auto parallel = [](Real x) { return x; };
  const auto unknowns = static_cast<std::size_t>((top() + 1) * points());
  for (auto* vectors : {&source_, &functional_}) vectors->fill(Vector(unknowns, 0));
  for (int k = 0; k <= 2; ++k) {
    const Real radial_part = xi.moment(k, radial), parallel_part = xi.moment(k, parallel);
    const Real coefficient = (2 * k + 1) / Real{2};  // of P_k in a function, from its moment
    for (int p = 0; p < points(); ++p) {
      const auto at = static_cast<std::size_t>(p);
      const auto place = static_cast<std::size_t>(k * points() + p);
      source_[0][place] = drift[at] * coefficient * radial_part;
      source_[1][place] = strength[at] * coefficient * parallel_part;
      functional_[0][place] = jacobian[at] / jacobian_sum * drift[at] * radial_part;
      functional_[1][place] = jacobian[at] / jacobian_sum * strength[at] * parallel_part;
    }
  }
  source_[0][0] = source_[1][0] = 0;  // the pinned point
}

void Equation::row(int l, int k, int point, std::vector<Entry>& entries) const {
  entries.clear();
  if (l == 0 && point == 0) {
    if (k == 0) entries.push_back({0, 1});
    return;
  }
  const auto at = static_cast<std::size_t>(point);
  const auto side = static_cast<std::size_t>(k - l + 1);
  const auto& beside = streaming_[static_cast<std::size_t>(l)];
  Real by_theta = across_[at][0], by_zeta = across_[at][1];
  Real here = nu_hat_ * scattering_[static_cast<std::size_t>(l)];
  if (k != l) {
    by_theta = beside[side] * along_[at][0];
    by_zeta = beside[side] * along_[at][1];
    here = mirror_[static_cast<std::size_t>(l)][side] * half_divergence_[at];
  }
  const int i = point % grid_.n_theta, j = point / grid_.n_theta;
  entries.push_back({point, here});
  for (int other = 0; other < grid_.n_theta; ++other) {
    if (other == i) continue;
    entries.push_back({other + j * grid_.n_theta,
                       by_theta * d_theta_[static_cast<std::size_t>(i * grid_.n_theta + other)]});
  }
  for (int other = 0; other < grid_.n_zeta; ++other) {
    if (other == j) continue;
    entries.push_back({i + other * grid_.n_theta,
                       by_zeta * d_zeta_[static_cast<std::size_t>(j * grid_.n_zeta + other)]});
  }
}

Equation::Vector Equation::residual(int j, const Vector& f) const {
  Vector r = source(j);
  std::vector<Entry> entries;
  for (int l = 0; l <= top(); ++l) {
    for (int k = std::max(0, l - 1); k <= std::min(top(), l + 1); ++k) {
      for (int p = 0; p < points(); ++p) {
        row(l, k, p, entries);
        Real sum = 0;
        for (const auto& e : entries) {
          sum += e.value * f[static_cast<std::size_t>(k * points() + e.column)];
        }
        r[static_cast<std::size_t>(l * points() + p)] -= sum;
      }
    }
  }
  return r;
}

Real Equation::flux(int i, const Vector& f) const {
  Real sum = 0;
  const auto& c = functional_[static_cast<std::size_t>(i)];
  for (std::size_t at = 0; at < c.size(); ++at) sum += c[at] * f[at];
  return sum;
}

std::array<double, 4> Equation::coefficients(const std::array<Vector, 2>& f) const {
  const std::array<Real, 2> scale = {psi_prime_, b0_};
  const auto d = [&](std::size_t i, std::size_t j) {
    return static_cast<double>(flux(static_cast<int>(i), f[j]) / (scale[i] * scale[j]));
  };
  return {d(0, 0), d(1, 0), d(0, 1), d(1, 1)};
}

}  // namespace assay::cases::transport::oracle
