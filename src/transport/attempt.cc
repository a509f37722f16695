// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/attempt.h"

#include "base/error.h"
#include "transport/prepared.h"
#include "transport/quality.h"
#include "transport/solver/spectrum.h"

namespace assay::transport {
namespace {

// A method that leaves a larger relative error has failed.
constexpr double kFailed = 1e-3;

double dot3(const ThreeBlocks& a, const ThreeBlocks& b) {
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t r = 0; r < a[k].size(); ++r) sum += a[k][r] * b[k][r];
  }
  return sum;
}

void expand_modes(const BlockSystem& system, const std::array<ThreeBlocks, 2>& modes,
                  Solution& solution) {
  for (std::size_t s = 0; s < 2; ++s) {
    for (std::size_t k = 0; k < 3; ++k) {
      solution.modes[s][k] = system.unknowns[k % 2].expand(modes[s][k]);
    }
  }
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

// Errors of the values, and how much of the solution is at the edge of the grid.
Quality quality_of(const Geometry& g, const Refined& whole, const Solution& solution) {
  Quality q;
  q.whole = true;
  const auto& a = whole.assessment;
  double error[2][2];
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      const double aliased = std::min(solution.onsager, 1.0) * a.most_by_residual[i][j];
      error[i][j] = a.by_residual[i][j] + aliased + a.by_rounding[i][j];
    }
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

// Whether the attempt's values are numbers, and how wrong they are.
void look_at(const BlockSystem& system, Attempt& a) {
  a.finite = true;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      a.finite = a.finite && std::isfinite(dot3(system.functional[i], a.modes[j]));
    }
  }
  if (!a.finite) {
    a.trouble = "breaks down";
    return;
  }
  a.error = a.whole ? a.whole->worst : 0;
  if (a.trouble.empty() && a.error > kFailed) {
    a.trouble = fmt::format("leaves a relative error of {:.1e}", a.error);
  }
}

}  // namespace

Attempt attempt_of(const BlockSystem& system, Method method, EliminationResult result) {
  Attempt a;
  a.method = method;
  if (result.singular) {
    a.trouble = "the system is singular";
    return a;
  }
  a.modes = std::move(result.modes);
  a.residual = result.residual;
  a.whole = std::move(result.whole);
  look_at(system, a);
  return a;
}

Attempt attempt_of(const BlockSystem& system, MixedResult mixed) {
  Attempt a;
  a.method = Method::kMixed;
  a.modes = std::move(mixed.modes);
  a.residual = mixed.residual;
  a.sweeps = mixed.sweeps;
  a.whole = std::move(mixed.whole);
  if (!mixed.converged) {
    a.trouble =
        fmt::format("stalled after {} sweeps with residual {:.1e}", mixed.sweeps, mixed.residual);
  }
  look_at(system, a);
  return a;
}

const BlockSystem& system_of(const Prepared& prepared, Method method) {
  const auto& parts = prepared.parts();
  return method == Method::kParity ? *parts.parity : parts.full;
}

OpenCase::OpenCase(const Prepared& prepared, const Case& given, const SolveOptions& options)
    : prepared_(&prepared), given_(given), at_(given), options_(options) {
  check_case(prepared, given, options.method);
  if (prepared.is_zero_field(at_.epsi_hat)) at_.epsi_hat = 0;
  next_ = resolve_method(prepared, at_, options.method);
}

void OpenCase::take(Attempt now) {
  const bool done = now.trouble.empty();
  if (!done) failed_.push_back(fmt::format("'{}' {}", name_of(now.method), now.trouble));
  next_ = done ? std::nullopt : sturdier(now.method, *prepared_, at_);
  if (!best_ || now.error < best_->error || done) best_ = std::move(now);
}

Solution OpenCase::solution() {
  const auto& g = prepared_->geometry();
  const auto& best = *best_;
  if (!best.finite) {
    fail("surface '{}': no method has an answer at nu_hat {}, epsi_hat {}: {}", prepared_->name(),
         at_.nu_hat, at_.epsi_hat, fmt::join(failed_, ", "));
  }
  Solution solution;
  solution.at = given_;
  if (!failed_.empty()) {
    solution.notes.push_back(
        fmt::format("nu_hat {:g}, epsi_hat {:g}: {}; the answer kept is that of '{}'", at_.nu_hat,
                    at_.epsi_hat, fmt::join(failed_, ", "), name_of(best.method)));
  }
  solution.method = best.method;
  solution.residual = best.residual;
  solution.sweeps = best.sweeps;
  const auto& system = system_of(*prepared_, best.method);
  double value[2][2];
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) value[i][j] = dot3(system.functional[i], best.modes[j]);
  }
  solution.d = coefficients_of(g, value);
  solution.d.d33_spitzer = 2 / (3 * at_.nu_hat) * g.mean_b2 / (g.b0 * g.b0);
  solution.onsager = onsager_residual(solution.d);
  expand_modes(system, best.modes, solution);
  if (best.whole) solution.quality = quality_of(g, *best.whole, solution);
  add_warnings(*prepared_, solution);
  if (!options_.keep_modes) solution.modes = {};
  return solution;
}

}  // namespace assay::transport
