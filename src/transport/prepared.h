// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What Prepared and Workspace hold; for the solvers of this folder.

#include <optional>

#include "transport/eliminate.h"
#include "transport/operators.h"
#include "transport/solve.h"

namespace assay::transport {

struct Prepared::Parts {
  std::string name;
  Geometry geometry;
  BlockSystem full;
  std::optional<BlockSystem> parity;
  std::string rational_warning;
  bool rational = false;  // a divisor so small that Δ_0 is singular in f64 at Ê = 0
};

struct Workspace::Memory {
  EliminationWorkspace elimination;
};

// The four coefficients from functional values c_i·f_j: [functional][source].
Coefficients coefficients_of(const Geometry& geometry, const double (&value)[2][2]);

// Refinement of f32 factors with f64 residuals, for both sources.
struct MixedResult {
  std::array<ThreeBlocks, 2> modes;
  double residual = 0;  // ‖s1 − A f1‖/√(unknowns)
  int sweeps = 0;
  bool converged = false;
};
MixedResult solve_mixed(const BlockSystem& system, double nu_hat, double epsi_hat);

}  // namespace assay::transport
