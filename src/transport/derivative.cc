// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/derivative.h"

#include <utility>

#include "base/error.h"
#include "transport/prepared.h"
#include "transport/solver/factored.h"

namespace assay::transport {

// D = c·f with A f = s, so ∂D = −λ·(∂A f) with Aᵀ λ = c.
//   ∂A/∂ν̂ = ½ k(k+1) on the diagonal;  ∂A/∂Ê = E on the diagonal, but for the pinned row.
Derivatives differentiate(const Prepared& prepared, const Case& at) {
  check_case(prepared, at, Method::kStructured);
  for (const auto& [name, points] :
       {std::pair{"n_theta", prepared.grid().n_theta}, {"n_zeta", prepared.grid().n_zeta}}) {
    if (points % 2 == 0) {
      fail("derivatives: {} must be odd, since the highest mode of an even number has none, got {}",
           name, points);
    }
  }
  const auto& system = prepared.parts().full;
  const FactoredSystem factors(system, at.nu_hat, at.epsi_hat);
  if (factors.singular()) {
    fail("surface '{}': the system is singular at nu_hat {}, epsi_hat {}", prepared.name(),
         at.nu_hat, at.epsi_hat);
  }
  std::array<Modes, 2> f, adjoint;
  for (std::size_t s = 0; s < 2; ++s) {
    f[s] = from_three_blocks(system, system.source[s]);
    if (system.pinned) f[s][0][0] = 0;
    factors.solve(f[s]);
    adjoint[s] = from_three_blocks(system, system.functional[s]);
    factors.solve_transposed(adjoint[s]);
  }

  double by_nu[2][2] = {}, by_field[2][2] = {};
  for (std::size_t j = 0; j < 2; ++j) {
    Modes nu_change = zero_modes(system), field_change = zero_modes(system);
    for (int k = 0; k <= system.n_xi; ++k) {
      const auto block = static_cast<std::size_t>(k);
      for (std::size_t r = 0; r < f[j][block].size(); ++r) {
        nu_change[block][r] = BlockSystem::collisions(1, k) * f[j][block][r];
      }
      add_terms(*system.electric, 1, f[j][block], field_change[block]);
    }
    if (system.pinned) nu_change[0][0] = field_change[0][0] = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      by_nu[i][j] = -dot(adjoint[i], nu_change);
      by_field[i][j] = -dot(adjoint[i], field_change);
    }
  }
  const auto& g = prepared.geometry();
  Derivatives d{coefficients_of(g, by_nu), coefficients_of(g, by_field)};
  d.by_nu_hat.d33_spitzer = -2 / (3 * at.nu_hat * at.nu_hat) * g.mean_b2 / (g.b0 * g.b0);
  return d;
}

}  // namespace assay::transport
