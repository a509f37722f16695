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
#include <optional>

#include "base/error.h"
#include "base/names.h"
#include "transport/prepared.h"
#include "transport/quality.h"
#include "transport/solver/eliminate.h"
#include "transport/solver/mixed.h"
#include "transport/solver/spectrum.h"

namespace assay::transport {
namespace {

// Below this divisor Δ_0 has an eigenvalue near δ² of its neighbours', and D11 loses the digits of
// its inverse: at 1e-3 six, of sixteen.
constexpr double kSmallDivisor = 1e-3;
// Below this, no digit is left.
constexpr double kZeroDivisor = 1e-7;
// A field whose terms are this much smaller than those of streaming changes nothing but last bits.
constexpr double kTinyField = 1e-14;
// Ê_ψ [1/m], beyond all plasmas by many orders.
constexpr double kLargestField = 1e9;
// A method that leaves a larger relative error has failed.
constexpr double kFailed = 1e-3;

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

// What one method makes of a case.
struct Attempt {
  Method method = Method::kAuto;
  std::array<ThreeBlocks, 2> modes;
  double residual = 0;
  int sweeps = 0;
  std::optional<Refined> whole;
  std::string trouble;  // why another method should be tried; empty: none
  bool finite = false;  // it has an answer at all
  double error = INFINITY;
};

Attempt attempt(const Prepared::Parts& parts, const Case& at, Method method, bool whole,
                Workspace& workspace) {
  Attempt a;
  a.method = method;
  const auto& system = system_of(parts, method);
  if (method == Method::kMixed) {
    auto mixed = solve_mixed(system, at.nu_hat, at.epsi_hat);
    a.modes = std::move(mixed.modes);
    a.residual = mixed.residual;
    a.sweeps = mixed.sweeps;
    a.whole = std::move(mixed.whole);
    if (!mixed.converged) {
      a.trouble =
          fmt::format("stalled after {} sweeps with residual {:.1e}", mixed.sweeps, mixed.residual);
    }
  } else {
    const auto how = method == Method::kDense ? Elimination::kDense : Elimination::kStructured;
    auto result = eliminate(system, at.nu_hat, at.epsi_hat, how, whole, workspace);
    if (result.singular) {
      a.trouble = "the system is singular";
      return a;
    }
    a.modes = std::move(result.modes);
    a.residual = result.residual;
    a.whole = std::move(result.whole);
  }
  a.finite = true;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      a.finite = a.finite && std::isfinite(dot3(system.functional[i], a.modes[j]));
    }
  }
  if (!a.finite) {
    a.trouble = "breaks down";
    return a;
  }
  a.error = a.whole ? a.whole->worst : 0;
  if (a.trouble.empty() && a.error > kFailed) {
    a.trouble = fmt::format("leaves a relative error of {:.1e}", a.error);
  }
  return a;
}

// The next sturdier method; nothing after dense.
std::optional<Method> sturdier(Method method, const Prepared& prepared, const Case& at) {
  switch (method) {
    case Method::kMixed:
      return at.epsi_hat == 0 && prepared.has_parity() ? Method::kParity : Method::kStructured;
    case Method::kParity:
      return Method::kStructured;
    case Method::kStructured:
      return Method::kDense;
    case Method::kDense:
    case Method::kAuto:
      return std::nullopt;
  }
  throw InternalError("a method is one of its enumerators");
}

// The answer of the first method without trouble, or the best of all.
Attempt best_attempt(const Prepared& prepared, const Case& at, const SolveOptions& options,
                     Workspace& workspace, std::vector<std::string>& notes) {
  std::optional<Method> method = resolve_method(prepared, at, options.method);
  std::optional<Attempt> best;
  std::vector<std::string> failed;
  while (method) {
    auto now = attempt(prepared.parts(), at, *method, options.whole_system, workspace);
    const bool done = now.trouble.empty();
    if (!done) failed.push_back(fmt::format("'{}' {}", name_of(*method), now.trouble));
    if (!best || now.error < best->error || done) best = std::move(now);
    if (done) break;
    method = sturdier(*method, prepared, at);
  }
  if (!best->finite) {
    fail("surface '{}': no method has an answer at nu_hat {}, epsi_hat {}: {}", prepared.name(),
         at.nu_hat, at.epsi_hat, fmt::join(failed, ", "));
  }
  if (!failed.empty()) {
    notes.push_back(fmt::format("nu_hat {:g}, epsi_hat {:g}: {}; the answer kept is that of '{}'",
                                at.nu_hat, at.epsi_hat, fmt::join(failed, ", "),
                                name_of(best->method)));
  }
  return std::move(*best);
}

// Errors of the values, and how much of the solution is at the edge of the grid.
Quality quality_of(const Geometry& g, const Refined& whole, const Solution& solution) {
  Quality q;
  q.whole = true;
  const auto& a = whole.assessment;
  double error[2][2];
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) error[i][j] = a.by_residual[i][j] + a.by_rounding[i][j];
  }
  q.error = coefficients_of(g, error);
  for (auto* e : {&q.error.d11, &q.error.d31, &q.error.d13, &q.error.d33}) *e = std::abs(*e);
  q.residual = a.residual;
  q.legendre_share = std::max(a.last_modes[0], a.last_modes[1]);
  const auto shares = highest_modes(g.grid, solution.modes);
  q.theta_share = shares.theta;
  q.zeta_share = shares.zeta;
  q.corrections = whole.corrections;
  return q;
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
const std::vector<std::string>& Prepared::notes() const { return parts_->notes; }
const std::vector<std::string>& Prepared::field_warnings() const { return parts_->field_warnings; }
const std::string& Prepared::rational_warning() const { return parts_->rational_warning; }
bool Prepared::is_zero_field(double epsi_hat) const {
  return std::abs(epsi_hat) <= parts_->tiny_field;
}
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
  parts->tiny_field = kTinyField * parts->full.row_length.v / parts->full.row_length.e;
  const auto divisor = smallest_divisor(g);
  if (divisor.value < kSmallDivisor) {
    parts->rational = divisor.value < kZeroDivisor;
    parts->rational_warning = fmt::format(
        "nearly rational surface at zero field: iota*m + n*nfp = {:.2e} for the resolved mode "
        "(m, n) = ({}, {}); D11 may be rounding noise",
        divisor.value, divisor.m, divisor.n);
  }
  parts->notes = surface.notes;
  parts->field_warnings = unresolved_field(surface, grid);
  return Prepared(parts);
}

Method resolve_method(const Prepared& prepared, const Case& at, Method method) {
  if (method != Method::kAuto) return method;
  if (!prepared.is_zero_field(at.epsi_hat)) return Method::kStructured;
  if (prepared.parts().rational) return Method::kDense;  // LU copes best with a singular Δ_0
  return prepared.has_parity() ? Method::kParity : Method::kStructured;
}

void check_case(const Prepared& prepared, const Case& at, Method method) {
  if (!(at.nu_hat > 0) || !std::isfinite(at.nu_hat)) {
    fail("nu_hat must be positive and finite, got {}", at.nu_hat);
  }
  if (!(std::abs(at.epsi_hat) <= kLargestField)) {
    fail("epsi_hat must be from -{0:g} to {0:g}, got {1}", kLargestField, at.epsi_hat);
  }
  if (method == Method::kParity && !prepared.is_zero_field(at.epsi_hat)) {
    fail("method 'parity' needs a zero electric field, got epsi_hat {}", at.epsi_hat);
  }
  if (method == Method::kParity && !prepared.has_parity()) {
    fail("method 'parity' needs a B without sine terms, got surface '{}'", prepared.name());
  }
}

Solution solve(const Prepared& prepared, const Case& given, const SolveOptions& options,
               Workspace& workspace) {
  check_case(prepared, given, options.method);
  const auto& parts = prepared.parts();
  const auto& g = parts.geometry;
  Case at = given;
  if (prepared.is_zero_field(at.epsi_hat)) at.epsi_hat = 0;
  Solution solution;
  solution.at = given;
  auto best = best_attempt(prepared, at, options, workspace, solution.notes);
  solution.method = best.method;
  solution.residual = best.residual;
  solution.sweeps = best.sweeps;
  const auto& system = system_of(parts, best.method);
  double value[2][2];
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) value[i][j] = dot3(system.functional[i], best.modes[j]);
  }
  solution.d = coefficients_of(g, value);
  solution.d.d33_spitzer = 2 / (3 * at.nu_hat) * g.mean_b2 / (g.b0 * g.b0);
  solution.onsager = onsager_residual(solution.d);
  expand_modes(system, best.modes, solution);
  if (best.whole) solution.quality = quality_of(g, *best.whole, solution);
  add_warnings(prepared, solution);
  if (!options.keep_modes) solution.modes = {};
  return solution;
}

Solution solve(const Prepared& prepared, const Case& at, const SolveOptions& options) {
  Workspace workspace;
  return solve(prepared, at, options, workspace);
}

}  // namespace assay::transport
