// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/kernels/blas.h"

#include "base/error.h"
#include "base/shared_library.h"

namespace assay::transport::blas {
namespace {

// Fortran calls pass everything by address.
template <typename T>
using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const T*,
                      const T*, const int*, const T*, const int*, const T*, T*, const int*);
template <typename T>
using Gemv = void (*)(const char*, const int*, const int*, const T*, const T*, const int*, const T*,
                      const int*, const T*, T*, const int*);
using Getrs = void (*)(const char*, const int*, const int*, const double*, const int*, const int*,
                       double*, const int*, int*);
using Potr = void (*)(const char*, const int*, double*, const int*, int*);

struct Library {
  Gemm<double> dgemm;
  Gemm<float> sgemm;
  Gemv<double> dgemv;
  Gemv<float> sgemv;
  Getrs dgetrs;
  Potr dpotrf, dpotri;
  std::string description;

  Library() {
    const SharedLibrary& openblas = assay::openblas();
    const auto bind = [&openblas]<typename F>(F*& function, const char* name) {
      function = openblas.function<F>(name);
    };
    bind(dgemm, "dgemm_");
    bind(sgemm, "sgemm_");
    bind(dgemv, "dgemv_");
    bind(sgemv, "sgemv_");
    bind(dgetrs, "dgetrs_");
    bind(dpotrf, "dpotrf_");
    bind(dpotri, "dpotri_");
    set_openblas_threads(1);
    description = openblas_description() + "; 1 thread";
  }
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

}  // namespace

void gemm(Op a, Op b, int m, int n, int k, double alpha, const double* A, int lda, const double* B,
          int ldb, double beta, double* C, int ldc) {
  const char ta = static_cast<char>(a), tb = static_cast<char>(b);
  library().dgemm(&ta, &tb, &m, &n, &k, &alpha, A, &lda, B, &ldb, &beta, C, &ldc);
}

void gemm(Op a, Op b, int m, int n, int k, float alpha, const float* A, int lda, const float* B,
          int ldb, float beta, float* C, int ldc) {
  const char ta = static_cast<char>(a), tb = static_cast<char>(b);
  library().sgemm(&ta, &tb, &m, &n, &k, &alpha, A, &lda, B, &ldb, &beta, C, &ldc);
}

void gemv(Op a, int m, int n, double alpha, const double* A, int lda, const double* x, int incx,
          double beta, double* y, int incy) {
  const char t = static_cast<char>(a);
  library().dgemv(&t, &m, &n, &alpha, A, &lda, x, &incx, &beta, y, &incy);
}

void gemv(Op a, int m, int n, float alpha, const float* A, int lda, const float* x, int incx,
          float beta, float* y, int incy) {
  const char t = static_cast<char>(a);
  library().sgemv(&t, &m, &n, &alpha, A, &lda, x, &incx, &beta, y, &incy);
}

void solve_lu(Op op, int n, int columns, const double* A, int lda, const std::vector<int>& pivots,
              double* B, int ldb) {
  const char t = static_cast<char>(op);
  int info = 0;
  library().dgetrs(&t, &n, &columns, A, &lda, pivots.data(), B, &ldb, &info);
  check(info == 0, "dgetrs gets valid arguments");
}

bool invert_spd(int n, double* A, int lda) {
  const char lower = 'L';
  int info = 0;
  library().dpotrf(&lower, &n, A, &lda, &info);
  if (info > 0) return false;
  library().dpotri(&lower, &n, A, &lda, &info);
  check(info >= 0, "dpotri gets valid arguments");
  if (info > 0) return false;
  for (int c = 0; c < n; ++c) {
    for (int r = c + 1; r < n; ++r) {
      A[c + static_cast<std::ptrdiff_t>(r) * lda] = A[r + static_cast<std::ptrdiff_t>(c) * lda];
    }
  }
  return true;
}

std::string description() { return library().description; }

}  // namespace assay::transport::blas
