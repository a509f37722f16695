// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one door to BLAS and LAPACK: OpenBLAS, loaded when first used, with kernels that fit this
// processor (base/shared_library.h, docs/adr/0020). It runs on one thread here; whoever wants more
// calls it from several threads at once.

#include <complex>
#include <string>
#include <vector>

namespace assay::einsum {

// Whether a matrix is taken as it lies in memory, or its transpose.
enum class Op : char { kNone, kTranspose };

// Loads the library if that was not done yet. Throws EnvironmentError naming what is missing. Every
// function below does the same at its first call, so this is for those who want to know early.
// Returns version and kernels in use, e.g. "OpenBLAS 0.3.21 …; kernels for SkylakeX".
const std::string& blas_description();

// c = alpha·op(a)·op(b) + beta·c, row-major, op(a) m×k, op(b) k×n. With beta 0, c is not read.
// T: float, double, std::complex of either.
template <typename T>
void gemm(Op op_a, Op op_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb,
          T beta, T* c, int ldc);
// y = alpha·op(a)·x + beta·y for a row-major m×n matrix a as it lies in memory.
template <typename T>
void gemv(Op op_a, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta, T* y,
          int incy);

// Elements that OpenBLAS packs its operands into, at most, for products of this size. It takes the
// memory once for each thread and keeps it.
double gemm_packing(double m, double n, double k);
double gemv_packing(double rows, double columns);

// LAPACK, for T float and double. Matrices are column-major, as LAPACK has them.

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

}  // namespace assay::einsum
