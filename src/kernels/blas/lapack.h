// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one door to LAPACK: OpenBLAS's, on one thread, loaded as blas.h says. Matrices are
// column-major, as LAPACK has them. Several threads may call at once.

#include <vector>

#include "kernels/blas/library.h"

namespace assay::blas {

// For T float and double:

// Eigenvalues, ascending, of the symmetric n×n matrix a, which is replaced by the eigenvectors
// (columns). Throws UserError if the iteration does not converge (NaN or infinite entries).
template <typename T>
std::vector<T> eigen_symmetric(int n, T* a);
// Thin singular value decomposition of the m×n matrix a (destroyed): s descending, u m×r, vt r×n,
// r = min(m, n). Throws like eigen_symmetric.
template <typename T>
struct Svd {
  std::vector<T> s, u, vt;
};
template <typename T>
Svd<T> svd(int m, int n, T* a);
// Solves a·x = b for symmetric positive definite n×n a (destroyed) and nrhs columns b (n×nrhs,
// replaced). Returns false, leaving b alone, when a is not positive definite.
template <typename T>
bool solve_positive_definite(int n, T* a, int nrhs, T* b);
// Replaces the m×n matrix a, m ≥ n, by the orthonormal factor Q of its QR factorisation; the upper
// triangle R (n×n) goes to r if that is not null.
template <typename T>
void orthonormalize(int m, int n, T* a, T* r = nullptr);

// For double:

// op(A)·X = B in place of B, with the n×n matrix A as an LU factorisation with LAPACK's pivots left
// it.
void solve_lu(Op op, int n, int columns, const double* a, int lda, const std::vector<int>& pivots,
              double* b, int ldb);
// A⁻¹ in place of the symmetric positive definite A, of which the lower triangle is read; both
// triangles are written. False when A is not positive definite.
bool invert_spd(int n, double* a, int lda);

}  // namespace assay::blas
