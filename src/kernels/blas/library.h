// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A BLAS that others wrote, loaded into this process: matrix products through its C interface.
// Engines use blas.h and lapack.h, which go through OpenBLAS on one thread; code that compares
// libraries uses this.

#include <complex>
#include <string>

#include "kernels/blas/op.h"
#include "kernels/shared_library.h"

namespace assay::blas {

class Library {
 public:
  // Loads an OpenBLAS, or a BLIS if the name has `blis` in it, by the name that dlopen takes, and
  // lets it choose its own kernels. Throws EnvironmentError naming what is missing.
  explicit Library(const std::string& name);

  // With the kernels that fit this processor: OpenBLAS chooses them while it loads, and takes a
  // processor newer than itself for the oldest it knows, at a tenth of the speed. What the user has
  // set (OPENBLAS_CORETYPE, BLIS_ARCH_TYPE) stays. Loaded once per process, with one thread unless
  // the user or set_threads() says otherwise. Kernels and threads are set through the environment,
  // which may be changed only while no other thread reads it: a program with threads calls this
  // before it starts them, or sets the variables itself; otherwise the library decides. Only one of
  // the two in a process: their symbols have the same names.
  static const Library& openblas();
  static const Library& blis();

  void set_threads(int threads) const;
  int threads() const;
  // "OpenBLAS 0.3.21 …; kernels for SkylakeX".
  std::string description() const;

  // c = alpha·op(a)·op(b) + beta·c, op(a) m×k, op(b) k×n. With beta 0, c is not read.
  // T: float, double, std::complex of either.
  template <typename T>
  void gemm(Order order, Op op_a, Op op_b, int m, int n, int k, T alpha, const T* a, int lda,
            const T* b, int ldb, T beta, T* c, int ldc) const;
  // y = alpha·op(a)·x + beta·y for an m×n matrix a as it lies in memory; the elements of the
  // vectors are incx and incy apart.
  template <typename T>
  void gemv(Order order, Op op_a, int m, int n, T alpha, const T* a, int lda, const T* x, int incx,
            T beta, T* y, int incy) const;

  const kernels::SharedLibrary& shared() const { return shared_; }

 private:
  // CBLAS passes real scalars by value and complex ones by address.
  template <typename T>
  struct Scalar {
    using Type = T;
    static T pass(const T& value) { return value; }
  };
  template <typename T>
  struct Scalar<std::complex<T>> {
    using Type = const void*;
    static const void* pass(const std::complex<T>& value) { return &value; }
  };
  template <typename T>
  struct Functions {
    using S = typename Scalar<T>::Type;
    void (*gemm)(int, int, int, int, int, int, S, const T*, int, const T*, int, S, T*, int);
    void (*gemv)(int, int, int, int, S, const T*, int, const T*, int, S, T*, int);
  };
  template <typename T>
  const Functions<T>& functions() const;

  bool is_blis_;
  kernels::SharedLibrary shared_;
  Functions<float> s_;
  Functions<double> d_;
  Functions<std::complex<float>> c_;
  Functions<std::complex<double>> z_;
};

}  // namespace assay::blas
