// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// The story of a solve, from surface to coefficients:
//
//   prepare   series → fields on the grid (geometry.cc) → sparse operators (operators.cc)
//   solve     choose a method → eliminate k = n_ξ … 1 (eliminate.cc, structured.cc, mixed.cc)
//             → f_0, f_1, f_2 → D11, D31, D13, D33 → what a careful user should be told
#include "transport/solve.h"

#include <array>
#include <cmath>

#include "base/error.h"
#include "base/names.h"
#include "transport/prepared.h"
#include "transport/solver/eliminate.h"
#include "transport/solver/mixed.h"

namespace assay::transport {
namespace {

// Below this divisor Δ_0 has an eigenvalue near δ² of its neighbours', and D11 loses the digits of
// its inverse: at 1e-3 six, of sixteen.
constexpr double kSmallDivisor = 1e-3;
// Below this, no digit is left.
constexpr double kZeroDivisor = 1e-7;

constexpr auto kMethods = make_names<Method>({{Method::kAuto, "auto"},
                                              {Method::kDense, "dense"},
                                              {Method::kStructured, "structured"},
                                              {Method::kParity, "parity"},
                                              {Method::kMixed, "mixed"}});

double dot3(const ThreeBlocks& a, const ThreeBlocks& b) {
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t r = 0; r < a[k].size(); ++r) sum += a[k][r] * b[k][r];
  }
  return sum;
}

const BlockSystem& system_of(const Prepared::Parts& parts, Method method) {
  return method == Method::kParity ? *parts.parity : parts.full;
}

void expand_modes(const BlockSystem& system, const std::array<ThreeBlocks, 2>& modes,
                  Solution& solution) {
  for (std::size_t s = 0; s < 2; ++s) {
    for (std::size_t k = 0; k < 3; ++k) {
      solution.modes[s][k] = system.unknowns[k % 2].expand(modes[s][k]);
    }
  }
}

}  // namespace

Case case_of_er(double nu_hat, double er_hat, double psi_prime) {
  return {nu_hat, er_hat / psi_prime};
}

std::string_view name_of(Method method) { return kMethods[method]; }

Method method_from_name(std::string_view name) {
  if (const auto method = kMethods.find(name)) return *method;
  fail("unknown method, expected auto, dense, structured, parity or mixed, got '{}'", name);
}

const Geometry& Prepared::geometry() const { return parts_->geometry; }
const std::string& Prepared::name() const { return parts_->name; }
const std::string& Prepared::rational_warning() const { return parts_->rational_warning; }
bool Prepared::has_parity() const { return parts_->parity.has_value(); }
bool Prepared::adjoint_consistent() const { return parts_->full.symmetric; }

Prepared prepare(const Surface& surface, const Grid& grid, const PrepareOptions& options) {
  auto parts = std::make_shared<Prepared::Parts>();
  parts->name = surface.name;
  parts->geometry = make_geometry(surface, grid);
  const auto& g = parts->geometry;
  const bool parity = g.cosine_only;
  if (options.adjoint_consistent) {
    parts->full = adjoint_system(g, false);
    if (parity) parts->parity = adjoint_system(g, true);
  } else {
    parts->full = plain_system(g);
    if (parity) parts->parity = parity_system(g);
  }
  const auto divisor = smallest_divisor(g);
  if (divisor.value < kSmallDivisor) {
    parts->rational = divisor.value < kZeroDivisor;
    parts->rational_warning = fmt::format(
        "nearly rational surface at zero field: iota*m + n*nfp = {:.2e} for the resolved mode "
        "(m, n) = ({}, {}); D11 may be rounding noise",
        divisor.value, divisor.m, divisor.n);
  }
  return Prepared(parts);
}

Method resolve_method(const Prepared& prepared, const Case& at, Method method) {
  if (method != Method::kAuto) return method;
  if (at.epsi_hat != 0) return Method::kStructured;
  if (prepared.parts().rational) return Method::kDense;  // LU copes best with a singular Δ_0
  return prepared.has_parity() ? Method::kParity : Method::kStructured;
}

void check_case(const Prepared& prepared, const Case& at, Method method) {
  if (!(at.nu_hat > 0) || !std::isfinite(at.nu_hat)) {
    fail("nu_hat must be positive and finite, got {}", at.nu_hat);
  }
  if (!std::isfinite(at.epsi_hat)) fail("epsi_hat must be finite, got {}", at.epsi_hat);
  if (method == Method::kParity && at.epsi_hat != 0) {
    fail("method 'parity' needs a zero electric field, got epsi_hat {}", at.epsi_hat);
  }
  if (method == Method::kParity && !prepared.has_parity()) {
    fail("method 'parity' needs a B without sine terms, got surface '{}'", prepared.name());
  }
}

Solution solve(const Prepared& prepared, const Case& at, const SolveOptions& options,
               Workspace& workspace) {
  check_case(prepared, at, options.method);
  const auto& parts = prepared.parts();
  const auto& g = parts.geometry;
  Solution solution;
  solution.at = at;
  solution.method = resolve_method(prepared, at, options.method);
  const auto& system = system_of(parts, solution.method);

  std::array<ThreeBlocks, 2> modes;
  if (solution.method == Method::kMixed) {
    auto mixed = solve_mixed(system, at.nu_hat, at.epsi_hat);
    modes = std::move(mixed.modes);
    solution.residual = mixed.residual;
    solution.sweeps = mixed.sweeps;
    if (!mixed.converged) {
      solution.warnings.push_back(
          fmt::format("mixed precision stalled after {} sweeps with residual {:.1e}", mixed.sweeps,
                      mixed.residual));
    }
  } else {
    const auto how =
        solution.method == Method::kDense ? Elimination::kDense : Elimination::kStructured;
    auto result = eliminate(system, at.nu_hat, at.epsi_hat, how, true, workspace);
    if (result.singular) {
      fail("surface '{}': the system is singular at nu_hat {}, epsi_hat {}", parts.name, at.nu_hat,
           at.epsi_hat);
    }
    modes = std::move(result.modes);
    solution.residual = result.residual;
  }

  double value[2][2];
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) value[i][j] = dot3(system.functional[i], modes[j]);
  }
  solution.d = coefficients_of(g, value);
  solution.d.d33_spitzer = 2 / (3 * at.nu_hat) * g.mean_b2 / (g.b0 * g.b0);
  for (const double d : {solution.d.d11, solution.d.d31, solution.d.d13, solution.d.d33}) {
    if (!std::isfinite(d)) {
      fail("surface '{}': method '{}' breaks down at nu_hat {}, epsi_hat {} (try 'dense')",
           parts.name, name_of(solution.method), at.nu_hat, at.epsi_hat);
    }
  }
  solution.onsager = onsager_residual(solution.d);
  if (at.epsi_hat == 0 && !parts.rational_warning.empty()) {
    solution.warnings.push_back(parts.rational_warning);
  }
  if (at.epsi_hat != 0 && !g.grid.has_odd_angles()) {
    solution.warnings.push_back(fmt::format(
        "{} x {} points: the highest mode of an even number has no derivative and, with "
        "a field, no equation; coefficients may be wrong, use odd numbers",
        g.grid.n_theta, g.grid.n_zeta));
  }
  if (options.keep_modes) expand_modes(system, modes, solution);
  return solution;
}

Solution solve(const Prepared& prepared, const Case& at, const SolveOptions& options) {
  Workspace workspace;
  return solve(prepared, at, options, workspace);
}

}  // namespace assay::transport
