// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Mixed precision: f32 factors F of most blocks, corrected with f64 residuals,
//
//   x ← x + F⁻¹(s − A x),
//
// until the correction is rounding noise. Rounding in f32 disturbs Δ_{k−1} by about
// ε₃₂|U||Δ_k⁻¹||L| ≈ ε₃₂/(½ν̂k²), which must stay well below what Δ_{k−1} itself is in its weakest
// directions, ½ν̂k²: so blocks with ½ν̂k(k+1) below some √ε₃₂ are eliminated and kept in f64. At ν̂ =
// 1e-5 these are 14 of the 140 to 180 blocks that such a ν̂ asks for, at ν̂ ≥ 1e-3 at most two.
#include "transport/solver/mixed.h"

#include <cmath>

#include "transport/solver/factored.h"

namespace assay::transport {
namespace {

// Measured at ν̂ = 1e-5 … 1e-2 on the reference grids: sweeps shrink the correction by 10 or more.
constexpr double kWeakestSingle = 3e-3;
constexpr int kMaxSweeps = 30;
// A correction this small against the solution changes the last bit or two of f64.
constexpr double kDone = 1e-15;
// A sweep that does not shrink the correction by this factor is at the rounding of its residual,
// which is no failure where the correction is below kNoise already.
constexpr double kStalled = 0.7, kNoise = 1e-8;

double norm(const Modes& x) { return std::sqrt(dot(x, x)); }

int highest_double_block(const BlockSystem& system, double nu_hat) {
  int k = 0;
  while (k < system.n_xi && BlockSystem::collisions(nu_hat, k + 1) < kWeakestSingle) ++k;
  return k;
}

// y ← y + factor·x.
void add(Modes& y, double factor, const Modes& x) {
  for (std::size_t k = 0; k < x.size(); ++k) {
    for (std::size_t r = 0; r < x[k].size(); ++r) y[k][r] += factor * x[k][r];
  }
}

}  // namespace

MixedResult solve_mixed(const BlockSystem& system, double nu_hat, double epsi_hat) {
  MixedResult result;
  const FactoredSystem factors(system, nu_hat, epsi_hat, highest_double_block(system, nu_hat));
  result.converged = !factors.singular();
  std::array<Modes, 2> both;
  for (std::size_t s = 0; s < 2; ++s) {
    Modes source = from_three_blocks(system, system.source[s]);
    if (system.pinned) source[0][0] = 0;
    Modes x = zero_modes(system), residual = source;
    double previous = INFINITY;
    bool converged = false;
    int sweeps = 0;
    while (!factors.singular() && sweeps < kMaxSweeps) {
      ++sweeps;
      Modes correction = residual;
      factors.solve(correction);
      add(x, 1, correction);
      residual = source;
      add(residual, -1, apply_system(system, nu_hat, epsi_hat, x));
      const double size = norm(correction) / norm(x);
      const bool shrinks = size < kStalled * previous;
      converged = size <= kDone || (!shrinks && size <= kNoise);
      if (converged || !shrinks) break;
      previous = size;
    }
    result.converged = result.converged && converged;
    result.sweeps = std::max(result.sweeps, sweeps);
    if (s == 0) {
      double unknowns = 0;
      for (const auto& block : x) unknowns += static_cast<double>(block.size());
      result.residual = norm(residual) / std::sqrt(unknowns);
    }
    if (factors.singular()) x[0].assign(x[0].size(), NAN);
    for (std::size_t k = 0; k < 3; ++k) result.modes[s][k] = x[k];
    both[s] = std::move(x);
  }
  const Modes f = side_by_side(both);
  result.whole.assessment = assess(system, nu_hat, epsi_hat, f);
  result.whole.worst = worst_error(system, f, result.whole.assessment);
  return result;
}

}  // namespace assay::transport
