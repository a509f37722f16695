// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/oracle/lu.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay::cases::transport::oracle {
namespace {

constexpr int kPanel = 32;

// Four numbers that may lie anywhere.
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));

// kRows × 12 numbers of C −= A·B, kept in registers while `depth` passes.
template <int kRows>
inline __attribute__((always_inline)) void tile(int depth, const double* a, int lda,
                                                const double* b, int ldb, double* c, int ldc) {
  Four sum[kRows][3];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < 3; ++v) sum[r][v] = *reinterpret_cast<const Four*>(c + r * ldc + 4 * v);
  }
  for (int p = 0; p < depth; ++p) {
    for (int v = 0; v < 3; ++v) {
      const Four at = *reinterpret_cast<const Four*>(b + p * ldb + 4 * v);
      for (int r = 0; r < kRows; ++r) sum[r][v] -= a[r * lda + p] * at;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < 3; ++v) *reinterpret_cast<Four*>(c + r * ldc + 4 * v) = sum[r][v];
  }
}

// C −= A·B: rows × columns, over depth.
inline __attribute__((always_inline)) void subtract_product_plainly(int rows, int columns,
                                                                    int depth, const double* a,
                                                                    int lda, const double* b,
                                                                    int ldb, double* c, int ldc) {
  const int whole = columns / 12 * 12;
  for (int j = 0; j < whole; j += 12) {
    int i = 0;
    for (; i + 4 <= rows; i += 4)
      tile<4>(depth, a + i * lda, lda, b + j, ldb, c + i * ldc + j, ldc);
    for (; i < rows; ++i) tile<1>(depth, a + i * lda, lda, b + j, ldb, c + i * ldc + j, ldc);
  }
  for (int i = 0; i < rows && whole < columns; ++i) {
    for (int p = 0; p < depth; ++p) {
      const double factor = a[i * lda + p];
      for (int j = whole; j < columns; ++j) c[i * ldc + j] -= factor * b[p * ldb + j];
    }
  }
}

// The same loops for the instructions that most machines of today have.
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void subtract_product_avx2(int rows, int columns, int depth,
                                                               const double* a, int lda,
                                                               const double* b, int ldb, double* c,
                                                               int ldc) {
  subtract_product_plainly(rows, columns, depth, a, lda, b, ldb, c, ldc);
}
#endif

void subtract_product(int rows, int columns, int depth, const double* a, int lda, const double* b,
                      int ldb, double* c, int ldc) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    subtract_product_avx2(rows, columns, depth, a, lda, b, ldb, c, ldc);
    return;
  }
#endif
  subtract_product_plainly(rows, columns, depth, a, lda, b, ldb, c, ldc);
}

// row[to] −= factor·row[from].
void subtract_row(int columns, double factor, const double* from, double* to) {
  for (int j = 0; j < columns; ++j) to[j] -= factor * from[j];
}

}  // namespace

Lu::Lu(int n, std::vector<double> matrix)
    : n_(n), a_(std::move(matrix)), pivots_(static_cast<std::size_t>(n)) {
  const auto at = [&](int r, int c) { return a_.data() + static_cast<std::ptrdiff_t>(r) * n_ + c; };
  for (int first = 0; first < n; first += kPanel) {
    const int end = std::min(n, first + kPanel);
    for (int k = first; k < end; ++k) {
      int pivot = k;
      for (int r = k + 1; r < n; ++r) {
        if (std::abs(*at(r, k)) > std::abs(*at(pivot, k))) pivot = r;
      }
      pivots_[static_cast<std::size_t>(k)] = pivot;
      if (pivot != k) std::swap_ranges(at(k, 0), at(k, 0) + n, at(pivot, 0));
      for (int r = k + 1; r < n; ++r) {
        *at(r, k) /= *at(k, k);
        subtract_row(end - k - 1, *at(r, k), at(k, k + 1), at(r, k + 1));
      }
    }
    for (int k = first; k < end; ++k) {
      for (int r = k + 1; r < end; ++r) subtract_row(n - end, *at(r, k), at(k, end), at(r, end));
    }
    subtract_product(n - end, n - end, end - first, at(end, first), n, at(first, end), n,
                     at(end, end), n);
  }
}

void Lu::solve(int columns, double* x) const {
  const auto at = [&](int r, int c) { return a_.data() + static_cast<std::ptrdiff_t>(r) * n_ + c; };
  const auto row = [&](int r) { return x + static_cast<std::ptrdiff_t>(r) * columns; };
  for (int k = 0; k < n_; ++k) {
    const int pivot = pivots_[static_cast<std::size_t>(k)];
    if (pivot != k) std::swap_ranges(row(k), row(k) + columns, row(pivot));
  }
  for (int first = 0; first < n_; first += kPanel) {
    const int end = std::min(n_, first + kPanel);
    for (int k = first; k < end; ++k) {
      for (int r = k + 1; r < end; ++r) subtract_row(columns, *at(r, k), row(k), row(r));
    }
    subtract_product(n_ - end, columns, end - first, at(end, first), n_, row(first), columns,
                     row(end), columns);
  }
  for (int first = (n_ - 1) / kPanel * kPanel; first >= 0; first -= kPanel) {
    const int end = std::min(n_, first + kPanel);
    for (int k = end - 1; k >= first; --k) {
      const double pivot = *at(k, k);
      for (int j = 0; j < columns; ++j) row(k)[j] /= pivot;
      for (int r = first; r < k; ++r) subtract_row(columns, *at(r, k), row(k), row(r));
    }
    subtract_product(first, columns, end - first, at(0, first), n_, row(first), columns, row(0),
                     columns);
  }
}

}  // namespace assay::cases::transport::oracle
