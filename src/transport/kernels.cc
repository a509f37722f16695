// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

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

}  // namespace

template <typename T>
void combine_columns(int rows, const T* in, const Combination<T>& terms, bool transposed, T* out) {
  // One allocation of some ten kilobytes against 2·rows·weights flops.
  const auto bytes = static_cast<std::size_t>(terms.inputs + terms.outputs + 1) * kPanelBytes;
  const std::unique_ptr<T, void (*)(void*)> panel(static_cast<T*>(std::aligned_alloc(64, bytes)),
                                                  std::free);
  if (!panel) throw std::bad_alloc();
  vector_kernels<T>().combine(rows, in, terms, transposed, panel.get(), out);
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
