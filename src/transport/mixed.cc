// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "transport/factored.h"
#include "transport/prepared.h"

namespace assay::transport {
namespace {

constexpr int kMaxSweeps = 30;
// A correction this small against the solution changes the last bit or two of f64.
constexpr double kDone = 1e-15;
// A sweep that does not shrink the correction by this factor is at the rounding of its residual.
constexpr double kStalled = 0.7;
// Where it stalls, corrections below this are the noise of the f64 residual, not a failure.
constexpr double kNoise = 1e-9;

double norm(const Modes& x) { return std::sqrt(dot(x, x)); }

}  // namespace

// x ← x + F⁻¹(s − A x), F the f32 factors, until the correction is rounding noise.
MixedResult solve_mixed(const BlockSystem& system, double nu_hat, double epsi_hat) {
  MixedResult result;
  const FactoredSystem<float> factors(system, nu_hat, epsi_hat);
  result.converged = !factors.singular();
  for (std::size_t s = 0; s < 2 && !factors.singular(); ++s) {
    Modes source = from_three_blocks(system, system.source[s]);
    if (system.pinned) source[0][0] = 0;
    Modes x = zero_modes(system), residual = source;
    double previous = INFINITY;
    bool converged = false;
    int sweeps = 0;
    while (sweeps < kMaxSweeps) {
      ++sweeps;
      Modes correction = residual;
      factors.solve(correction);
      for (std::size_t k = 0; k < x.size(); ++k) {
        for (std::size_t r = 0; r < x[k].size(); ++r) x[k][r] += correction[k][r];
      }
      const Modes ax = apply_system(system, nu_hat, epsi_hat, x);
      for (std::size_t k = 0; k < x.size(); ++k) {
        for (std::size_t r = 0; r < x[k].size(); ++r) residual[k][r] = source[k][r] - ax[k][r];
      }
      const double size = norm(correction) / norm(x);
      converged = size <= kDone || (size >= kStalled * previous && size <= kNoise);
      if (converged || !(size < kStalled * previous)) break;
      previous = size;
    }
    result.converged = result.converged && converged;
    result.sweeps = std::max(result.sweeps, sweeps);
    for (std::size_t k = 0; k < 3; ++k) result.modes[s][k] = x[k];
    if (s == 0) {
      double unknowns = 0;
      for (const auto& block : x) unknowns += static_cast<double>(block.size());
      result.residual = norm(residual) / std::sqrt(unknowns);
    }
  }
  if (factors.singular()) {
    for (auto& modes : result.modes) {
      for (std::size_t k = 0; k < 3; ++k) {
        modes[k].assign(static_cast<std::size_t>(system.block_size(static_cast<int>(k))), NAN);
      }
    }
  }
  return result;
}

}  // namespace assay::transport
