// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one door to BLAS for engines: OpenBLAS, loaded when first used, with kernels that fit this
// processor (library.h, docs/adr/0010). It runs on one thread; whoever wants more calls it from
// several threads at once. Every function loads the library if that was not done yet and throws
// EnvironmentError naming what is missing.

#include <string>

#include "kernels/blas/library.h"

namespace assay::blas {

// OpenBLAS on one thread.
const Library& one_thread();
// Version and kernels in use, e.g. "OpenBLAS 0.3.21 …; kernels for SkylakeX".
const std::string& description();

// Library::gemm in pieces of a tenth of a second or so. Where the work is wanted no more
// (base/attend.h), the pieces that are left are left out.
template <typename T>
void gemm(Order order, Op op_a, Op op_b, int m, int n, int k, T alpha, const T* a, int lda,
          const T* b, int ldb, T beta, T* c, int ldc);

// The same and Library::gemv for matrices in row-major order …
template <typename T>
void gemm(Op op_a, Op op_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb,
          T beta, T* c, int ldc) {
  gemm<T>(Order::kRows, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
template <typename T>
void gemv(Op op_a, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta, T* y,
          int incy) {
  one_thread().gemv<T>(Order::kRows, op_a, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
// … and in column-major order, which LAPACK has.
template <typename T>
void gemm_columns(Op op_a, Op op_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b,
                  int ldb, T beta, T* c, int ldc) {
  gemm<T>(Order::kColumns, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
template <typename T>
void gemv_columns(Op op_a, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta,
                  T* y, int incy) {
  one_thread().gemv<T>(Order::kColumns, op_a, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

// Elements that OpenBLAS packs its operands into, at most, for products of this size. It takes the
// memory once for each thread and keeps it.
double gemm_packing(double m, double n, double k);
double gemv_packing(double rows, double columns);

}  // namespace assay::blas
