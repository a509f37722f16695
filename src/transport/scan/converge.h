// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which grid is fine enough: the ladder that answers it.

#include <functional>
#include <string>
#include <vector>

#include "transport/solve.h"

namespace assay::transport {

struct ConvergeOptions {
  Grid start = {9, 13, 20};  // coarse enough to cost nothing, fine enough to see the field
  double tolerance = 1e-2;   // largest relative change of D11, D31 and D33 that counts as small
  int max_points = 2500;     // of n_theta·n_zeta: one block then takes 50 MB
  int max_xi = 400;
  Method method = Method::kAuto;
  bool adjoint_consistent = false;
  // Told after each solve; may be empty.
  std::function<void(const struct ConvergeStep&)> on_step;
};

struct ConvergeStep {
  Grid grid;
  std::string raised;  // "start", "all", or names such as "n_xi" or "n_theta+n_zeta"
  Coefficients d;
  double change = 0;  // from the grid it was raised from
  double seconds = 0;
};

enum class Convergence {
  kConverged,   // each number raised alone, and all together, changed little
  kUnresolved,  // the limits were reached first
  kOutOfScope,  // no grid can answer: a rational surface at zero field
};
std::string_view name_of(Convergence convergence);

struct ConvergeResult {
  Convergence outcome = Convergence::kUnresolved;
  std::string reason;  // one line
  Grid grid;           // of the last accepted step
  Solution solution;   // there
  std::vector<ConvergeStep> ladder;
};

// Raises n_θ, n_ζ and n_ξ (by a quarter or more, angles stay odd): first those that the spectrum of
// the solution shows to be too small, all at once; then each alone, which is taken back where it
// changes little; then all three from there. So each number has seen two small changes at the end.
// Throws what prepare() and solve() throw.
ConvergeResult converge(const Surface& surface, const Case& at,
                        const ConvergeOptions& options = {});

}  // namespace assay::transport
