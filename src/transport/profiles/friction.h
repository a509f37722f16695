// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Friction between species: the linearised Coulomb operator on flows.
//
// A flow is the part of f with one power of the pitch ξ,
//   f_a = f_Ma ξ (2v/v_ta²) Σ_k u_ak L_k(K),   K = v²/v_ta²,   L_k = L_k^{(3/2)} (Sonine's),
// u_a0 is its mean velocity. The moment with L_j of the force that all species b exert,
//   F_aj = ∫ m_a v ξ L_j(K) C_a d³v = Σ_b Σ_k F_ajbk u_bk   [N/m³],
// is linear in it. Row j = 0 is momentum: Σ_a F_a0bk = 0 for every b and k. With equal temperatures
// the matrix is symmetric; in general it is that of the exact operator.

#include <span>
#include <vector>

#include "transport/profiles/collisions.h"

namespace assay::transport {

// Values of L_0 … L_{terms−1} and of their derivatives by K.
struct LaguerreValues {
  std::vector<double> value, slope;
};
LaguerreValues laguerre(int terms, double k);

class Friction {
 public:
  // `terms` from 1 to 12 for each species. Each element is integrated to rounding.
  Friction(std::span<const Species> species, int terms, double coulomb_logarithm);

  int terms() const { return terms_; }
  double at(std::size_t a, int j, std::size_t b, int k) const;

 private:
  std::size_t species_;
  int terms_;
  std::vector<double> elements_;  // row-major, index a·terms + j
};

}  // namespace assay::transport
