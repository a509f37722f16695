// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A few leading eigenvectors of a symmetric matrix.
//
// LAPACK finds all of them in the time of the few. A random subspace a little wider than what is
// asked for, multiplied by the matrix three times, has them already where the eigenvalues fall
// steeply, as those of a Gram matrix do that is nearly of low rank. Whether it has is looked at
// afterwards: with R = GV − VΛ and E = G − VΛVᵀ,
//
//   ‖R‖ ≤ 8√n ε ‖Λ‖       V belongs to a matrix as near to G as LAPACK's do;
//   ‖E‖ + ‖R‖ < λ_count   no other eigenvalue is as large: G without V's part has the norm ‖E‖.
//
// Where that does not hold after a few multiplications, LAPACK has the word.

#include "einsum/decompose/matrix.h"

namespace assay::einsum {

template <typename T>
struct LeadingEigen {
  Matrix<T> vectors;       // n × count, orthonormal columns, eigenvalues falling
  bool by_lapack = false;  // all of them were computed
};

// For T float and double, 1 ≤ count ≤ n. Deterministic. Throws like falling_eigen.
template <typename T>
LeadingEigen<T> leading_eigen(const Matrix<T>& symmetric, std::int64_t count);

}  // namespace assay::einsum
