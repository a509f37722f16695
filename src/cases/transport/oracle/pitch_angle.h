// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "cases/transport/oracle/surface.h"

namespace assay::cases::transport::oracle {

// Legendre polynomials P_0 … P_top in ξ, and what the terms of the equation make of them. Every
// number is an integral over ξ, by Gauss's rule with so many nodes that it is exact: no recurrence
// coefficient is written down, so none can be wrong here as it is in an engine.
class PitchAngle {
 public:
  explicit PitchAngle(int top);

  // The coefficient of P_l in ξ P_k, in (1−ξ²) P_k′, and in −½((1−ξ²) P_k′)′.
  Real streaming(int l, int k) const;
  Real mirror(int l, int k) const;
  Real scattering(int l, int k) const;

  // ∫ f P_k dξ over [−1, 1], f a polynomial of degree ≤ 2.
  Real moment(int k, const std::function<Real(Real)>& f) const;

 private:
  struct Node {
    Real xi, weight;
    std::vector<Real> p, slope;  // P_k and P_k′ there
  };
  std::vector<Node> nodes_;
};

}  // namespace assay::cases::transport::oracle
