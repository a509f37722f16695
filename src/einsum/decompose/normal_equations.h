// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The linear systems of alternating least squares.

#include "einsum/decompose/matrix.h"

namespace assay::einsum {

// How a system was solved.
enum class SolveStage {
  kCholesky,   // Γ is safely positive definite
  kTruncated,  // it is not: the least solution, without the directions that Γ does not see
  kRidge,  // that overflows or does not converge: (Γ + μI)⁻¹ with the first μ that gives numbers
};

// Solves u·Γ = m for u in place of m (rows × R), with symmetric positive semidefinite Γ (R × R).
// Throws UserError where Γ or m has NaN or infinite entries.
template <typename T>
SolveStage solve_normal_equations(const Matrix<T>& gamma, Matrix<T>& m);

}  // namespace assay::einsum
