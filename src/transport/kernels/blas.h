// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one door to BLAS and LAPACK.
//
// OpenBLAS, loaded on first use with kernels that fit this processor (base/shared_library.h), so
// that a program that never solves anything does not pay for it. It runs on one thread: whoever has
// more cores gives each of them a case of its own.
//
// Matrices are column-major with leading dimension ld. All functions may be called from several
// threads at once. The first call throws EnvironmentError when the library cannot be loaded.

#include <string>
#include <vector>

namespace assay::transport::blas {

enum class Op : char { kNo = 'N', kTranspose = 'T' };

// C ← alpha·op(A)·op(B) + beta·C, with op(A) m×k and op(B) k×n.
void gemm(Op a, Op b, int m, int n, int k, double alpha, const double* A, int lda, const double* B,
          int ldb, double beta, double* C, int ldc);
void gemm(Op a, Op b, int m, int n, int k, float alpha, const float* A, int lda, const float* B,
          int ldb, float beta, float* C, int ldc);

// y ← alpha·op(A)·x + beta·y, with A m×n and the elements of the vectors incx and incy apart.
void gemv(Op a, int m, int n, double alpha, const double* A, int lda, const double* x, int incx,
          double beta, double* y, int incy);
void gemv(Op a, int m, int n, float alpha, const float* A, int lda, const float* x, int incx,
          float beta, float* y, int incy);

// op(A)·X = B in place of B, with A as factor_lu (lu.h) left it.
void solve_lu(Op op, int n, int columns, const double* A, int lda, const std::vector<int>& pivots,
              double* B, int ldb);
// A⁻¹ in place of the symmetric positive definite A, of which the lower triangle is read; both
// triangles are written. False when A is not positive definite.
bool invert_spd(int n, double* A, int lda);

// "OpenBLAS 0.3.21 …; kernels for SkylakeX; 1 thread".
std::string description();

}  // namespace assay::transport::blas
