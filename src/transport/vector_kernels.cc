// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Compiled several times, with ASSAY_INSTRUCTION_SET naming the namespace and flags to match. Only
// plain loops of its own: an inline function of the standard library, compiled here for a newer
// processor, could be the copy that the linker keeps for everyone.
#include "transport/vector_kernels.h"

namespace assay::transport {
namespace ASSAY_INSTRUCTION_SET {
namespace {

// 64 bytes of elements, wherever they lie: one AVX-512 register, or as many smaller ones.
template <typename T>
struct Pack;
template <>
struct Pack<double> {
  typedef double Type __attribute__((vector_size(64), aligned(8), may_alias));
};
template <>
struct Pack<float> {
  typedef float Type __attribute__((vector_size(64), aligned(4), may_alias));
};
template <typename T>
constexpr int kLanes = 64 / sizeof(T);

// Four packs of rows at a time: the loop over terms then has four independent sums, and the rows of
// all columns together (N × 256 bytes) stay in the second-level cache.
template <typename T>
void combine_panel(std::int64_t rows, const T* in, int outputs, int width,
                   const std::int32_t* source, const T* weight, T* out) {
  using P = typename Pack<T>::Type;
  constexpr int lanes = kLanes<T>;
  for (int c = 0; c < outputs; ++c) {
    P s0{}, s1{}, s2{}, s3{};
    for (int w = 0; w < width; ++w) {
      const T* x = in + *source++ * rows;
      const T factor = *weight++;
      s0 += factor * *reinterpret_cast<const P*>(x);
      s1 += factor * *reinterpret_cast<const P*>(x + lanes);
      s2 += factor * *reinterpret_cast<const P*>(x + 2 * lanes);
      s3 += factor * *reinterpret_cast<const P*>(x + 3 * lanes);
    }
    T* y = out + c * rows;
    *reinterpret_cast<P*>(y) = s0;
    *reinterpret_cast<P*>(y + lanes) = s1;
    *reinterpret_cast<P*>(y + 2 * lanes) = s2;
    *reinterpret_cast<P*>(y + 3 * lanes) = s3;
  }
}

template <typename T>
void combine(int rows, const T* in, int outputs, int width, const std::int32_t* source,
             const T* weight, T* out) {
  constexpr int panel = 4 * kLanes<T>;
  if (rows >= panel) {
    for (int r = 0; r < rows; r += panel) {
      // The last panel may repeat rows of the one before.
      const int at = r < rows - panel ? r : rows - panel;
      combine_panel<T>(rows, in + at, outputs, width, source, weight, out + at);
    }
    return;
  }
  for (int c = 0; c < outputs; ++c) {
    T* y = out + static_cast<std::int64_t>(c) * rows;
    for (int r = 0; r < rows; ++r) y[r] = 0;
    for (int w = 0; w < width; ++w) {
      const T* x = in + static_cast<std::int64_t>(*source++) * rows;
      const T factor = *weight++;
      for (int r = 0; r < rows; ++r) y[r] += factor * x[r];
    }
  }
}

template <typename T>
void swap(T& a, T& b) {
  const T c = a;
  a = b;
  b = c;
}

template <typename T>
void invert_leaf(T* a) {
  using P = typename Pack<T>::Type;
  constexpr int packs = kLeaf / kLanes<T>;
  int pivot_row[kLeaf];
  for (int p = 0; p < kLeaf; ++p) {
    T* pivot_column = a + p * kLeaf;
    int best = p;
    for (int r = p + 1; r < kLeaf; ++r) {
      if (__builtin_fabs(pivot_column[r]) > __builtin_fabs(pivot_column[best])) best = r;
    }
    pivot_row[p] = best;
    if (best != p) {
      for (int c = 0; c < kLeaf; ++c) swap(a[c * kLeaf + p], a[c * kLeaf + best]);
    }
    const T d = 1 / pivot_column[p];
    pivot_column[p] = 0;  // so that the update below leaves the pivot row and column alone
    P column[packs];
    for (int q = 0; q < packs; ++q) {
      column[q] = *reinterpret_cast<const P*>(pivot_column + q * kLanes<T>);
    }
    for (int c = 0; c < kLeaf; ++c) {
      T* x = a + c * kLeaf;
      const T factor = x[p] * d;
      for (int q = 0; q < packs; ++q) {
        *reinterpret_cast<P*>(x + q * kLanes<T>) -= factor * column[q];
      }
      x[p] = factor;
    }
    for (int q = 0; q < packs; ++q) {
      *reinterpret_cast<P*>(pivot_column + q * kLanes<T>) = -d * column[q];
    }
    pivot_column[p] = d;
  }
  // Rows were exchanged before, so columns are exchanged back after.
  for (int p = kLeaf - 1; p >= 0; --p) {
    if (pivot_row[p] == p) continue;
    for (int r = 0; r < kLeaf; ++r) swap(a[p * kLeaf + r], a[pivot_row[p] * kLeaf + r]);
  }
}

}  // namespace

const VectorKernels<double> kDouble = {combine<double>, invert_leaf<double>};
const VectorKernels<float> kFloat = {combine<float>, invert_leaf<float>};

}  // namespace ASSAY_INSTRUCTION_SET
}  // namespace assay::transport
