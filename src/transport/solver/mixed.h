// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "transport/solver/whole.h"
#include "transport/system/operators.h"

namespace assay::transport {

// Refinement of f32 factors with f64 residuals, for both sources.
struct MixedResult {
  std::array<ThreeBlocks, 2> modes;
  double residual = 0;  // ‖s1 − A f1‖/√(unknowns)
  int sweeps = 0;
  bool converged = false;
  Refined whole;
};
MixedResult solve_mixed(const BlockSystem& system, double nu_hat, double epsi_hat);

}  // namespace assay::transport
