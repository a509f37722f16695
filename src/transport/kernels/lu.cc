// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/kernels/lu.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/attend.h"
#include "kernels/blas/blas.h"
#include "transport/kernels/vector_kernels.h"

namespace assay::transport {
namespace {

constexpr auto kNo = blas::Op::kNone;
// Columns that are eliminated before the rest of the matrix is updated: products with 32 terms run
// at 85 to 95 % of the rate of those with 64 and more.
constexpr int kBlock = 2 * kLeaf;

// The matrix and how far it is.
struct Work {
  int n;
  double* a;
  LuFactors& factors;

  double* at(int r, int c) const { return a + r + static_cast<std::ptrdiff_t>(c) * n; }
  const double* leaf(int j) const { return factors.leaves.data() + std::ptrdiff_t{j} * kLeaf; }

  // Exchanges of rows [first, last) in columns [from, to). Most rows stay where they are.
  void exchange(int first, int last, int from, int to) const {
    std::array<std::pair<int, int>, kBlock> rows;
    std::size_t count = 0;
    for (int r = first; r < last; ++r) {
      const int other = factors.pivots[static_cast<std::size_t>(r)] - 1;
      if (other != r) rows[count++] = {r, other};
    }
    for (int c = from; c < to && count > 0; ++c) {
      double* x = at(0, c);
      for (std::size_t i = 0; i < count; ++i) std::swap(x[rows[i].first], x[rows[i].second]);
    }
  }

  // Rows [first, last) of columns [from, to) become rows of U; the leaves there are finished.
  void eliminate_above(int first, int last, int from, int to) const {
    if (from >= to) return;
    for (int r = first; r < last; r += kLeaf) {
      const int here = std::min(kLeaf, last - r), below = r + here;
      panel_kernels().apply_lower(here, to - from, leaf(r), at(r, from), n);
      if (below < last) {
        blas::gemm_columns(kNo, kNo, last - below, to - from, here, -1.0, at(below, r), n,
                           at(r, from), n, 1.0, at(below, from), n);
      }
    }
  }

  // Columns [from, to) below row `last` lose their part in rows [first, last).
  void subtract_product(int first, int last, int from, int to) const {
    if (from >= to || last >= n) return;
    blas::gemm_columns(kNo, kNo, n - last, to - from, last - first, -1.0, at(last, first), n,
                       at(first, from), n, 1.0, at(last, from), n);
  }
};

}  // namespace

bool factor_lu(int n, double* a, LuFactors& factors) {
  const Work work{n, a, factors};
  factors.n = n;
  factors.pivots.resize(static_cast<std::size_t>(n));
  factors.leaves.resize(static_cast<std::size_t>((n + kLeaf - 1) / kLeaf) * kLeaf * kLeaf);
  bool regular = true;
  for (int begin = 0; begin < n; begin += kBlock) {
    attend();
    const int end = std::min(n, begin + kBlock);
    for (int j = begin; j < end; j += kLeaf) {
      const int next = std::min(end, j + kLeaf);
      int* pivots = factors.pivots.data() + j;
      regular &= panel_kernels().factor(n - j, next - j, work.at(j, j), n, pivots);
      for (int p = 0; p < next - j; ++p) pivots[p] += j + 1;
      panel_kernels().invert_triangle(Shape::kLower, next - j, work.at(j, j), n,
                                      factors.leaves.data() + std::ptrdiff_t{j} * kLeaf);
      work.exchange(j, next, begin, j);
      work.exchange(j, next, next, end);
      work.eliminate_above(j, next, next, end);
      work.subtract_product(j, next, next, end);
    }
    work.exchange(begin, end, 0, begin);
    work.exchange(begin, end, end, n);
    work.eliminate_above(begin, end, end, n);
    work.subtract_product(begin, end, end, n);
  }
  return regular;
}

namespace {

// Half of n, in whole leaves, so that only the last leaf of all is a small one.
int first_half(int n) { return (n / 2 + kLeaf / 2) / kLeaf * kLeaf; }

// Columns [j, j + width) of B ← B·T⁻¹ for a triangle T: by halves, so that all products are as tall
// as B.
void solve_upper(const double* lu, int n, int j, int width, int rows, double* b) {
  double* columns = b + std::ptrdiff_t{j} * rows;
  if (width <= kLeaf) {
    alignas(64) double inverse[kLeaf * kLeaf];
    panel_kernels().invert_triangle(Shape::kUpper, width, lu + j + std::ptrdiff_t{j} * n, n,
                                    inverse);
    leaf_kernels(double{}).multiply(rows, width, columns, rows, inverse, Shape::kUpper);
    return;
  }
  const int half = first_half(width), rest = width - half, k = j + half;
  solve_upper(lu, n, j, half, rows, b);
  blas::gemm_columns(kNo, kNo, rows, rest, half, -1.0, columns, rows,
                     lu + j + std::ptrdiff_t{k} * n, n, 1.0, b + std::ptrdiff_t{k} * rows, rows);
  solve_upper(lu, n, k, rest, rows, b);
}

void solve_lower(const double* lu, const LuFactors& factors, int j, int width, int rows,
                 double* b) {
  double* columns = b + std::ptrdiff_t{j} * rows;
  if (width <= kLeaf) {
    leaf_kernels(double{}).multiply(rows, width, columns, rows,
                                    factors.leaves.data() + std::ptrdiff_t{j} * kLeaf,
                                    Shape::kLower);
    return;
  }
  const int half = first_half(width), rest = width - half, k = j + half, n = factors.n;
  solve_lower(lu, factors, k, rest, rows, b);
  blas::gemm_columns(kNo, kNo, rows, half, rest, -1.0, b + std::ptrdiff_t{k} * rows, rows,
                     lu + k + std::ptrdiff_t{j} * n, n, 1.0, columns, rows);
  solve_lower(lu, factors, j, half, rows, b);
}

}  // namespace

void solve_lu_from_right(const double* lu, const LuFactors& factors, int rows, double* b) {
  if (factors.n == 0 || rows == 0) return;
  solve_upper(lu, factors.n, 0, factors.n, rows, b);
  solve_lower(lu, factors, 0, factors.n, rows, b);
  // A⁻¹ = U⁻¹·L⁻¹·P: the exchanges of rows, in reverse, are exchanges of columns.
  for (int p = factors.n - 1; p >= 0; --p) {
    const int other = factors.pivots[static_cast<std::size_t>(p)] - 1;
    double* column = b + std::ptrdiff_t{p} * rows;
    if (other != p) std::swap_ranges(column, column + rows, b + std::ptrdiff_t{other} * rows);
  }
}

}  // namespace assay::transport
