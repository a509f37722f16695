// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/kernels/kernels.h"

#include <algorithm>
#include <cstddef>

#include "kernels/blas/blas.h"
#include "kernels/memory/scratch.h"
#include "transport/kernels/vector_kernels.h"

namespace assay::transport {
namespace {

// Gauss–Jordan elimination of the columns [j, j + width), with the pivots in the rows of the same
// numbers. With J for these and I, K for all other rows and columns, eliminating J is
//
//   G = [−A_IJ A_JJ⁻¹; A_JJ⁻¹] in place of the columns J,
//   A_K ← (A_K with zeros in rows J) + G A_JK,
//
// and eliminating everything leaves the inverse. Eliminating J₁ and then J₂ is eliminating both; so
// columns go by halves, the other half is updated when one is done, and all products have n rows.
template <typename T>
struct GaussJordan {
  int n;
  T* a;
  T* scratch;

  T* column(int c) const { return a + static_cast<std::ptrdiff_t>(c) * n; }

  void eliminate(int j, int width) const {
    if (width <= kLeaf) return eliminate_leaf(j, width);
    // In whole leaves, so that only the last leaf of all is a small one.
    const int half = (width / 2 + kLeaf / 2) / kLeaf * kLeaf, rest = width - half;
    eliminate(j, half);
    tell(j, half, j + half, rest);
    eliminate(j + half, rest);
    tell(j + half, rest, j, half);
  }

  // What eliminating J = [j, j + width) does to the columns [k, k + count).
  void tell(int j, int width, int k, int count) const {
    for (int c = 0; c < count; ++c) {
      T* x = column(k + c) + j;
      std::copy_n(x, width, scratch + static_cast<std::ptrdiff_t>(c) * width);
      std::fill_n(x, width, T{0});
    }
    blas::gemm_columns(blas::Op::kNone, blas::Op::kNone, n, count, width, T{1}, column(j), n,
                       scratch, width, T{1}, column(k), n);
  }

  void eliminate_leaf(int j, int width) const {
    alignas(64) T inverse[kLeaf * kLeaf] = {}, negative[kLeaf * kLeaf];
    for (int c = 0; c < width; ++c) std::copy_n(column(j + c) + j, width, inverse + c * kLeaf);
    const auto& kernels = leaf_kernels(T{});
    kernels.invert(width, inverse);
    std::ranges::transform(inverse, negative, [](T x) { return -x; });
    kernels.multiply(n, width, column(j), n, negative, Shape::kFull);
    for (int c = 0; c < width; ++c) std::copy_n(inverse + c * kLeaf, width, column(j + c) + j);
  }
};

}  // namespace

template <typename T>
void combine_columns(int rows, const T* in, const Combination<T>& terms, bool transposed, T* out) {
  // One allocation of some ten kilobytes against 2·rows·weights flops.
  constexpr std::int64_t kHeight = kPanelBytes / sizeof(T);
  const kernels::AlignedArray<T> panel((terms.inputs + terms.outputs + 1) * kHeight);
  const TermsView<T> view = {terms.inputs,        terms.outputs,
                             terms.blocks.data(), static_cast<std::int64_t>(terms.blocks.size()),
                             terms.source.data(), terms.output.data(),
                             terms.weight.data()};
  combine_kernel(T{})(rows, in, view, transposed, panel.data(), out);
}

template <typename T>
void invert_without_pivoting(int n, T* a, std::vector<T>& scratch) {
  if (n == 0) return;
  const auto half = static_cast<std::size_t>(n + 1) / 2;
  scratch.resize(std::max(scratch.size(), half * half));
  GaussJordan<T>{n, a, scratch.data()}.eliminate(0, n);
}

template void combine_columns(int, const double*, const Combination<double>&, bool, double*);
template void combine_columns(int, const float*, const Combination<float>&, bool, float*);
template void invert_without_pivoting(int, double*, std::vector<double>&);
template void invert_without_pivoting(int, float*, std::vector<float>&);

}  // namespace assay::transport
