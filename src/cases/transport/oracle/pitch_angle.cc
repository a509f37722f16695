// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/oracle/pitch_angle.h"

#include <cmath>
#include <numbers>

namespace assay::cases::transport::oracle {
namespace {

// P_0 … P_top at ξ, by the three-term recurrence that defines them.
std::vector<Real> polynomials(int top, Real xi) {
  std::vector<Real> p = {1, xi};
  for (int k = 1; k < top; ++k) {
    const auto at = static_cast<std::size_t>(k);
    p.push_back(((2 * k + 1) * xi * p[at] - k * p[at - 1]) / (k + 1));
  }
  return p;
}

// P_k′ from P_k and P_{k−1}, inside (−1, 1).
Real slope(int k, Real xi, const std::vector<Real>& p) {
  const auto at = static_cast<std::size_t>(k);
  return k == 0 ? 0 : k * (p[at - 1] - xi * p[at]) / (1 - xi * xi);
}

}  // namespace

PitchAngle::PitchAngle(int top) {
  // Integrands have degree 2·top + 1 at most; n nodes are exact up to 2n − 1.
  const int n = top + 2;
  for (int i = 0; i < n; ++i) {
    Real xi = std::cos(std::numbers::pi_v<Real> * (i + 0.75L) / (n + 0.5L));
    for (int newton = 0; newton < 12; ++newton) {
      const auto p = polynomials(n, xi);
      xi -= p.back() / slope(n, xi, p);
    }
    const auto p = polynomials(n, xi);
    const Real end = slope(n, xi, p);
    Node node{xi, 2 / ((1 - xi * xi) * end * end), {}, {}};
    for (int k = 0; k <= top; ++k) {
      node.p.push_back(p[static_cast<std::size_t>(k)]);
      node.slope.push_back(slope(k, xi, p));
    }
    nodes_.push_back(std::move(node));
  }
}

Real PitchAngle::streaming(int l, int k) const {
  Real sum = 0;
  for (const auto& at : nodes_) {
    sum +=
        at.weight * at.xi * at.p[static_cast<std::size_t>(l)] * at.p[static_cast<std::size_t>(k)];
  }
  return sum * (2 * l + 1) / 2;
}

Real PitchAngle::mirror(int l, int k) const {
  Real sum = 0;
  for (const auto& at : nodes_) {
    sum += at.weight * (1 - at.xi * at.xi) * at.p[static_cast<std::size_t>(l)] *
           at.slope[static_cast<std::size_t>(k)];
  }
  return sum * (2 * l + 1) / 2;
}

// By parts: the boundary term vanishes with 1 − ξ².
Real PitchAngle::scattering(int l, int k) const {
  Real sum = 0;
  for (const auto& at : nodes_) {
    sum += at.weight * (1 - at.xi * at.xi) * at.slope[static_cast<std::size_t>(l)] *
           at.slope[static_cast<std::size_t>(k)];
  }
  return sum * (2 * l + 1) / 4;
}

Real PitchAngle::moment(int k, const std::function<Real(Real)>& f) const {
  Real sum = 0;
  for (const auto& at : nodes_) sum += at.weight * f(at.xi) * at.p[static_cast<std::size_t>(k)];
  return sum;
}

}  // namespace assay::cases::transport::oracle
