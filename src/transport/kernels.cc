// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "transport/blas.h"
#include "transport/vector_kernels.h"

namespace assay::transport {
namespace {

#if defined(__x86_64__)
#define ASSAY_CHOOSE(kernels)                                                               \
  __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") ? avx512::kernels \
  : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")       ? avx2::kernels   \
                                                                          : baseline::kernels
#else
#define ASSAY_CHOOSE(kernels) baseline::kernels
#endif

template <typename T>
const VectorKernels<T>& vector_kernels();
template <>
const VectorKernels<double>& vector_kernels() {
  static const VectorKernels<double>& chosen = ASSAY_CHOOSE(kDouble);
  return chosen;
}
template <>
const VectorKernels<float>& vector_kernels() {
  static const VectorKernels<float>& chosen = ASSAY_CHOOSE(kFloat);
  return chosen;
}

// A block smaller than a leaf is bordered by the identity.
template <typename T>
void invert_small(int n, T* a, int ld) {
  alignas(64) T block[kLeaf * kLeaf] = {};
  for (int c = 0; c < kLeaf; ++c) {
    if (c < n) {
      std::copy_n(a + static_cast<std::ptrdiff_t>(c) * ld, n, block + c * kLeaf);
    } else {
      block[c * kLeaf + c] = 1;
    }
  }
  vector_kernels<T>().invert_leaf(block);
  for (int c = 0; c < n; ++c) {
    std::copy_n(block + c * kLeaf, n, a + static_cast<std::ptrdiff_t>(c) * ld);
  }
}

// With A = [A B; C D], S = D − C A⁻¹ B:
//   A⁻¹ = [A⁻¹ + A⁻¹B S⁻¹ C A⁻¹,  −A⁻¹B S⁻¹;  −S⁻¹ C A⁻¹,  S⁻¹].
template <typename T>
void invert_by_halves(int n, T* a, int ld, T* scratch) {
  if (n <= kLeaf) return invert_small(n, a, ld);
  constexpr auto kNo = blas::Op::kNo;
  const int n1 = (n / 2 + kLeaf / 2) / kLeaf * kLeaf, n2 = n - n1;
  T* a11 = a;
  T* a21 = a + n1;
  T* a12 = a + static_cast<std::ptrdiff_t>(n1) * ld;
  T* a22 = a12 + n1;
  const T one = 1, zero = 0;
  invert_by_halves(n1, a11, ld, scratch);
  T* ca = scratch;  // n2×n1: C A⁻¹
  blas::gemm(kNo, kNo, n2, n1, n1, one, a21, ld, a11, ld, zero, ca, n2);
  blas::gemm(kNo, kNo, n2, n2, n1, -one, ca, n2, a12, ld, one, a22, ld);
  T* ab = ca + static_cast<std::ptrdiff_t>(n1) * n2;  // n1×n2: A⁻¹ B
  invert_by_halves(n2, a22, ld, ab);
  blas::gemm(kNo, kNo, n1, n2, n1, one, a11, ld, a12, ld, zero, ab, n1);
  blas::gemm(kNo, kNo, n1, n2, n2, -one, ab, n1, a22, ld, zero, a12, ld);
  blas::gemm(kNo, kNo, n2, n1, n2, -one, a22, ld, ca, n2, zero, a21, ld);
  blas::gemm(kNo, kNo, n1, n1, n2, -one, a12, ld, ca, n2, one, a11, ld);
}

enum class Triangle { kUnitLower, kUpper };

// The triangle of an n×n block, n ≤ kLeaf, inverted, as a kLeaf×kLeaf block.
void invert_triangle(Triangle triangle, int n, const double* a, int ld, double* inverse) {
  std::fill_n(inverse, kLeaf * kLeaf, 0.0);
  for (int c = 0; c < kLeaf; ++c) {
    double* x = inverse + c * kLeaf;
    x[c] = 1;
    if (c >= n) continue;
    const double* column = a + static_cast<std::ptrdiff_t>(c) * ld;
    if (triangle == Triangle::kUnitLower) {
      std::copy(column + c + 1, column + n, x + c + 1);
    } else {
      std::copy_n(column, c + 1, x);
    }
  }
  vector_kernels<double>().invert_leaf(inverse);
}

// T·X = B in place of B, T a triangle of the n×n matrix a.
void solve_triangle(Triangle triangle, int n, const double* a, int ld, int columns, double* b,
                    int ldb, double* scratch) {
  constexpr auto kNo = blas::Op::kNo;
  if (n <= kLeaf) {
    alignas(64) double inverse[kLeaf * kLeaf];
    invert_triangle(triangle, n, a, ld, inverse);
    blas::gemm(kNo, kNo, n, columns, n, 1.0, inverse, kLeaf, b, ldb, 0.0, scratch, n);
    for (int c = 0; c < columns; ++c) {
      std::copy_n(scratch + static_cast<std::ptrdiff_t>(c) * n, n,
                  b + static_cast<std::ptrdiff_t>(c) * ldb);
    }
    return;
  }
  const int n1 = (n / 2 + kLeaf / 2) / kLeaf * kLeaf, n2 = n - n1;
  const double* a21 = a + n1;
  const double* a12 = a + static_cast<std::ptrdiff_t>(n1) * ld;
  const double* a22 = a12 + n1;
  if (triangle == Triangle::kUnitLower) {
    solve_triangle(triangle, n1, a, ld, columns, b, ldb, scratch);
    blas::gemm(kNo, kNo, n2, columns, n1, -1.0, a21, ld, b, ldb, 1.0, b + n1, ldb);
    solve_triangle(triangle, n2, a22, ld, columns, b + n1, ldb, scratch);
  } else {
    solve_triangle(triangle, n2, a22, ld, columns, b + n1, ldb, scratch);
    blas::gemm(kNo, kNo, n1, columns, n2, -1.0, a12, ld, b + n1, ldb, 1.0, b, ldb);
    solve_triangle(triangle, n1, a, ld, columns, b, ldb, scratch);
  }
}

}  // namespace

void solve_lu_by_products(int n, int columns, const double* lu, const std::vector<int>& pivots,
                          double* b, std::vector<double>& scratch) {
  scratch.resize(static_cast<std::size_t>(kLeaf) * static_cast<std::size_t>(columns) + 1);
  for (int c = 0; c < columns; ++c) {
    double* x = b + static_cast<std::ptrdiff_t>(c) * n;
    for (int r = 0; r < n; ++r) {
      const int other = pivots[static_cast<std::size_t>(r)] - 1;  // LAPACK counts from 1
      if (other != r) std::swap(x[r], x[other]);
    }
  }
  solve_triangle(Triangle::kUnitLower, n, lu, n, columns, b, n, scratch.data());
  solve_triangle(Triangle::kUpper, n, lu, n, columns, b, n, scratch.data());
}

template <typename T>
void combine_columns(int rows, const T* in, const Combination<T>& terms, bool transposed, T* out) {
  // One allocation of some ten kilobytes against 2·rows·weights flops.
  const auto bytes = static_cast<std::size_t>(terms.inputs + terms.outputs + 1) * kPanelBytes;
  const std::unique_ptr<T, void (*)(void*)> panel(static_cast<T*>(std::aligned_alloc(64, bytes)),
                                                  std::free);
  if (!panel) throw std::bad_alloc();
  const TermsView<T> view = {terms.inputs,        terms.outputs,
                             terms.blocks.data(), static_cast<std::int64_t>(terms.blocks.size()),
                             terms.source.data(), terms.output.data(),
                             terms.weight.data()};
  vector_kernels<T>().combine(rows, in, view, transposed, panel.get(), out);
}

template <typename T>
void invert_without_pivoting(int n, T* a, int ld, std::vector<T>& scratch) {
  // At each level two panels of n1·n2 ≤ n²/4, the second shared with the level below.
  scratch.resize(static_cast<std::size_t>(n) * static_cast<std::size_t>(n) / 2 + 1);
  invert_by_halves(n, a, ld, scratch.data());
}

template void combine_columns(int, const double*, const Combination<double>&, bool, double*);
template void combine_columns(int, const float*, const Combination<float>&, bool, float*);
template void invert_without_pivoting(int, double*, int, std::vector<double>&);
template void invert_without_pivoting(int, float*, int, std::vector<float>&);

}  // namespace assay::transport
