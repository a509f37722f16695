// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The elimination of the block-tridiagonal system from the top, k = n_ξ … 1, which needs three
// blocks whatever n_ξ is, and all of them to say how good its answer is:
//
//   Δ_{nξ} = D_{nξ},   Δ_{k−1} = D_{k−1} − U_{k−1} Δ_k⁻¹ L_k
//
// then f_0, f_1, f_2 by substitution. Two ways of doing a step (N unknowns in a block):
//   dense        LU of Δ_k, N-row solve for U_{k−1} Δ_k⁻¹, N×N product:  (14/3) N³ flops
//   structured   Δ_k⁻¹ without pivoting (or by Cholesky where Δ_k is symmetric), then U and L
//                applied entry by entry:                                2 N³ + 4 N² (n_θ + n_ζ)

#include <array>
#include <optional>
#include <vector>

#include "transport/solver/whole.h"
#include "transport/solver/workspace.h"
#include "transport/system/operators.h"

namespace assay::transport {

enum class Elimination { kDense, kStructured };

struct EliminationResult {
  // f_0, f_1, f_2 as unknowns of the system, for the sources s1 and s3.
  std::array<ThreeBlocks, 2> modes;
  // ‖r‖/√(unknowns) over the block rows 0, 1, 2 for s1, with Δ_2 in place of D_2 in row 2.
  double residual = 0;
  // The whole system refined, see whole.h; absent where it was not asked for.
  std::optional<Refined> whole;
  bool singular = false;  // Δ_0 has a pivot that is exactly zero; nothing else is valid then
};

// Solves for both sources. `whole`: keeps every block (n_ξ N² doubles in the workspace), finds all
// modes and refines them on the whole system. `epsi_hat` must be 0 where the system has no electric
// term (InternalError). What has no solution in floating point comes back as NaN or infinity.
EliminationResult eliminate(const BlockSystem& system, double nu_hat, double epsi_hat,
                            Elimination how, bool whole, Workspace& workspace);

}  // namespace assay::transport
