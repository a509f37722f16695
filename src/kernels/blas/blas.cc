// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/blas/blas.h"

#include <algorithm>
#include <complex>
#include <cstddef>

#include "base/attend.h"

namespace assay::blas {

const Library& one_thread() {
  static const Library& library = []() -> const Library& {
    const Library& loaded = Library::openblas();
    loaded.set_threads(1);
    return loaded;
  }();
  return library;
}

namespace {

// Multiplications and additions of the largest piece.
constexpr double kLargestPiece = 1e10;
// Sides are cut at multiples of what all kernels take at a time.
constexpr int kCut = 64;

int first_half(int extent) { return (extent / 2 + kCut - 1) / kCut * kCut; }

}  // namespace

// By halves of the longest side. A piece has hundreds of rows, columns and terms, so that BLAS
// computes it as fast as the whole.
template <typename T>
void gemm(Order order, Op op_a, Op op_b, int m, int n, int k, T alpha, const T* a, int lda,
          const T* b, int ldb, T beta, T* c, int ldc) {
  const int longest = std::max({m, n, k});
  if (2.0 * m * n * k <= kLargestPiece || longest <= 2 * kCut) {
    if (still_wanted()) {
      one_thread().gemm<T>(order, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    }
    return;
  }
  const auto piece = [&](int rows, int columns, int terms, const T* x, const T* y, T keep, T* z) {
    gemm<T>(order, op_a, op_b, rows, columns, terms, alpha, x, lda, y, ldb, keep, z, ldc);
  };
  // Elements from one row, or column, of a matrix as it is multiplied to another.
  const bool by_rows = order == Order::kRows;
  const auto rows_on = [&](Op op, int ld, int count) {
    return std::ptrdiff_t{count} * (by_rows == (op == Op::kNone) ? ld : 1);
  };
  const auto columns_on = [&](Op op, int ld, int count) {
    return std::ptrdiff_t{count} * (by_rows == (op == Op::kNone) ? 1 : ld);
  };
  const int half = first_half(longest);
  if (m == longest) {
    piece(half, n, k, a, b, beta, c);
    piece(m - half, n, k, a + rows_on(op_a, lda, half), b, beta, c + rows_on(Op::kNone, ldc, half));
  } else if (n == longest) {
    piece(m, half, k, a, b, beta, c);
    piece(m, n - half, k, a, b + columns_on(op_b, ldb, half), beta,
          c + columns_on(Op::kNone, ldc, half));
  } else {
    piece(m, n, half, a, b, beta, c);
    piece(m, n, k - half, a + columns_on(op_a, lda, half), b + rows_on(op_b, ldb, half), T(1), c);
  }
}
template void gemm(Order, Op, Op, int, int, int, float, const float*, int, const float*, int, float,
                   float*, int);
template void gemm(Order, Op, Op, int, int, int, double, const double*, int, const double*, int,
                   double, double*, int);
template void gemm(Order, Op, Op, int, int, int, std::complex<float>, const std::complex<float>*,
                   int, const std::complex<float>*, int, std::complex<float>, std::complex<float>*,
                   int);
template void gemm(Order, Op, Op, int, int, int, std::complex<double>, const std::complex<double>*,
                   int, const std::complex<double>*, int, std::complex<double>,
                   std::complex<double>*, int);

const std::string& description() {
  static const std::string text = one_thread().description();
  return text;
}

// A panel of all rows (OpenBLAS, column-major, takes them for columns) and a block of the others'
// columns, by the terms of one pass. Its kernels for different processors take blocks of 192 to
// 1024 columns and 256 to 512 terms.
double gemm_packing(double m, double n, double k) {
  constexpr double kMostTerms = 512, kMostColumns = 1024;
  return std::min(k, kMostTerms) * (m + std::min(n, kMostColumns));
}

double gemv_packing(double rows, double columns) { return rows + columns; }

}  // namespace assay::blas
