// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// The story of a solve, from surface to coefficients:
//
//   prepare   series → fields on the grid (geometry.cc) → sparse operators (operators.cc)
//   solve     choose a method → eliminate k = n_ξ … 1 (eliminate.cc, structured.cc, mixed.cc)
//             → f_0, f_1, f_2 → D11, D31, D13, D33 → what a careful user should be told
//             (attempt.cc)
#include "transport/solve.h"

#include <cmath>

#include "base/attend.h"
#include "base/error.h"
#include "base/names.h"
#include "transport/attempt.h"
#include "transport/prepared.h"
#include "transport/quality.h"
#include "transport/solver/eliminate.h"
#include "transport/solver/mixed.h"

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

constexpr auto kMethods = make_names<Method>({{Method::kAuto, "auto"},
                                              {Method::kDense, "dense"},
                                              {Method::kStructured, "structured"},
                                              {Method::kParity, "parity"},
                                              {Method::kMixed, "mixed"}});

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
  parts->field_warnings = surface.warnings;
  for (auto& w : unresolved_field(surface, grid)) parts->field_warnings.push_back(std::move(w));
  parts->unresolved_rational = unresolved_rational(surface, g);
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
  OpenCase open(prepared, given, options);
  while (const auto method = open.next()) {
    const auto& system = system_of(prepared, *method);
    const auto& [nu_hat, epsi_hat] = open.at();
    if (*method == Method::kMixed) {
      open.take(attempt_of(system, solve_mixed(system, nu_hat, epsi_hat)));
    } else {
      const auto how = *method == Method::kDense ? Elimination::kDense : Elimination::kStructured;
      open.take(
          attempt_of(system, *method,
                     eliminate(system, nu_hat, epsi_hat, how, options.whole_system, workspace)));
    }
    attend();
  }
  return open.solution();
}

Solution solve(const Prepared& prepared, const Case& at, const SolveOptions& options) {
  Workspace workspace;
  return solve(prepared, at, options, workspace);
}

}  // namespace assay::transport
