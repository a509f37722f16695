// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The solvers against algebra: assembled dense systems, manufactured solutions, differences.

#include <gtest/gtest.h>

#include <cmath>

#include "base/philox.h"
#include "kernels/blas/lapack.h"
#include "transport/derivative.h"
#include "transport/prepared.h"
#include "transport/solver/eliminate.h"
#include "transport/solver/factored.h"

namespace assay::transport {
namespace {

// A as one matrix, column-major, with all blocks in order.
std::vector<double> assemble(const BlockSystem& system, double nu, double epsi, int& unknowns) {
  unknowns = 0;
  for (int k = 0; k <= system.n_xi; ++k) unknowns += system.block_size(k);
  std::vector<double> a(elements(unknowns, unknowns));
  Modes unit = zero_modes(system);
  std::size_t column = 0;
  for (auto& block : unit) {
    for (auto& x : block) {
      x = 1;
      std::size_t row = 0;
      for (const auto& y : apply_system(system, nu, epsi, unit)) {
        for (const double v : y) a[column * static_cast<std::size_t>(unknowns) + row++] = v;
      }
      x = 0;
      ++column;
    }
  }
  return a;
}

std::vector<double> flat(const Modes& x) {
  std::vector<double> out;
  for (const auto& block : x) out.insert(out.end(), block.begin(), block.end());
  return out;
}

const BlockSystem& system_of(const Prepared& prepared, bool parity) {
  return parity ? *prepared.parts().parity : prepared.parts().full;
}

TEST(BlockSolve, EqualsTheAssembledDenseSolve) {
  for (const bool adjoint : {false, true}) {
    for (const bool parity : {false, true}) {
      const auto prepared =
          prepare(builtin_surface("example"), {5, 7, 6}, {.adjoint_consistent = adjoint});
      const auto& system = system_of(prepared, parity);
      const double nu = 1e-1, epsi = parity ? 0 : 2e-3;
      int n = 0;
      auto a = assemble(system, nu, epsi, n);
      LuFactors factors;
      ASSERT_TRUE(factor_lu(n, a.data(), factors));
      Workspace workspace;
      for (const auto how : {Elimination::kDense, Elimination::kStructured}) {
        const auto result = eliminate(system, nu, epsi, how, true, workspace);
        for (std::size_t s = 0; s < 2; ++s) {
          auto source = from_three_blocks(system, system.source[s]);
          if (system.pinned) source[0][0] = 0;
          auto x = flat(source);
          blas::solve_lu(blas::Op::kNone, n, 1, a.data(), n, factors.pivots, x.data(), n);
          std::size_t i = 0;
          for (std::size_t k = 0; k < 3; ++k) {
            for (const double f : result.modes[s][k]) {
              EXPECT_NEAR(f, x[i++], 1e-11 * 20) << k;  // κ·ε with κ ≈ 1e4, |f| up to 20
            }
          }
        }
      }
    }
  }
}

// Random f_k with f_0(0,0) = 0, s = A f: the solve returns f to κ·ε. Also with Aᵀ.
TEST(BlockSolve, ReturnsManufacturedSolutions) {
  const auto prepared = prepare(builtin_surface("sample_dkes"), {7, 9, 12});
  for (const bool parity : {false, true}) {
    const auto& system = system_of(prepared, parity);
    const double nu = 1e-2, epsi = parity ? 0 : 1e-3;
    Modes f = zero_modes(system);
    const Philox random(7);
    std::uint64_t i = 0;
    for (auto& block : f) {
      for (auto& x : block) x = uniform(random[i++], -1, 1);
    }
    if (system.pinned) f[0][0] = 0;
    const FactoredSystem factors(system, nu, epsi);
    Modes x = apply_system(system, nu, epsi, f);
    factors.solve(x);
    for (std::size_t k = 0; k < f.size(); ++k) {
      for (std::size_t r = 0; r < f[k].size(); ++r) EXPECT_NEAR(x[k][r], f[k][r], 1e-9) << k;
    }
    // y·(A f) = (Aᵀ y)·f for the factors' transpose: solve Aᵀ y = c, then y·(A f) = c·f.
    Modes c = zero_modes(system);
    for (auto& block : c) {
      for (auto& v : block) v = uniform(random[i++], -1, 1);
    }
    Modes y = c;
    factors.solve_transposed(y);
    const double left = dot(y, apply_system(system, nu, epsi, f)), right = dot(c, f);
    EXPECT_NEAR(left, right, 1e-9 * (1 + std::abs(right)));
  }
}

// ∂D/∂ν̂ and ∂D/∂Ê by the adjoint against central differences: a step h leaves h²·D''' ≈ h² relative
// and ε·κ/h of rounding; with h = 1e-4 relative both are below 1e-6.
TEST(Derivatives, MatchDifferences) {
  for (const bool adjoint : {false, true}) {
    const auto prepared =
        prepare(builtin_surface("sample_dkes"), {9, 11, 10}, {.adjoint_consistent = adjoint});
    const Case at = {3e-3, 1e-3};
    const auto d = differentiate(prepared, at);
    const auto difference = [&](Case step, double h) {
      const SolveOptions options{.method = Method::kMixed};  // the most accurate one
      const auto plus =
          solve(prepared, {at.nu_hat + step.nu_hat, at.epsi_hat + step.epsi_hat}, options).d;
      const auto minus =
          solve(prepared, {at.nu_hat - step.nu_hat, at.epsi_hat - step.epsi_hat}, options).d;
      return std::array{(plus.d11 - minus.d11) / (2 * h), (plus.d31 - minus.d31) / (2 * h),
                        (plus.d13 - minus.d13) / (2 * h), (plus.d33 - minus.d33) / (2 * h),
                        (plus.d33_spitzer - minus.d33_spitzer) / (2 * h)};
    };
    const auto expect = [](const Coefficients& exact, const std::array<double, 5>& approximate) {
      const std::array values = {exact.d11, exact.d31, exact.d13, exact.d33, exact.d33_spitzer};
      for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_NEAR(values[i], approximate[i], 1e-6 * std::abs(approximate[i])) << i;
      }
    };
    expect(d.by_nu_hat, difference({3e-7, 0}, 3e-7));
    expect(d.by_epsi_hat, difference({0, 1e-7}, 1e-7));
  }
}

}  // namespace
}  // namespace assay::transport
