// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Blocks of kLeaf×kLeaf: their inverse, and tall matrices times them. See vector_pack-inl.h.
#include "transport/kernels/vector_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transport/kernels/leaf_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "kernels/dispatch.h"
#include "transport/kernels/vector_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::transport {
namespace HWY_NAMESPACE {
namespace {

// Columns of sums in registers, with two packs of rows each.
constexpr int kWide = ASSAY_MANY_REGISTERS ? 8 : 4;

// `rows` holds two packs of rows of each of kLeaf columns, dense. Columns c … c + kWide − 1 of
// their product with the block.
template <typename T>
void multiply_strip(const T* rows, const T* block, int from, int to, T* out, std::int64_t ld) {
  constexpr int lanes = kLanes<T>;
  typename Pack<T>::Register low[kWide], high[kWide];
  UNROLLED for (int c = 0; c < kWide; ++c) low[c] = high[c] = typename Pack<T>::Register{};
  for (int p = from; p < to; ++p) {
    const auto x = load(rows + p * 2 * lanes), y = load(rows + p * 2 * lanes + lanes);
    UNROLLED for (int c = 0; c < kWide; ++c) {
      low[c] += block[p + c * kLeaf] * x;
      high[c] += block[p + c * kLeaf] * y;
    }
  }
  UNROLLED for (int c = 0; c < kWide; ++c) {
    store(out + c * ld, low[c]);
    store(out + c * ld + lanes, high[c]);
  }
}

// Of the leading n×n part, which has at most kPacks packs of rows.
template <typename T, int kPacks>
void invert_part(int n, T* a) {
  if constexpr (kPacks > 1) {
    if (n <= (kPacks - 1) * kLanes<T>) return invert_part<T, kPacks - 1>(n, a);
  }
  int pivot_row[kLeaf];
  for (int p = 0; p < n; ++p) {
    T* pivot_column = a + p * kLeaf;
    const int best = p + pivot_of(pivot_column + p, n - p);
    pivot_row[p] = best;
    if (best != p) {
      for (int c = 0; c < n; ++c) swap(a[c * kLeaf + p], a[c * kLeaf + best]);
    }
    const T d = 1 / pivot_column[p];
    pivot_column[p] = 0;  // so that the update below leaves the pivot row and column alone
    typename Pack<T>::Register column[kPacks];
    UNROLLED for (int q = 0; q < kPacks; ++q) column[q] = load(pivot_column + q * kLanes<T>);
    for (int c = 0; c < n; ++c) {
      T* x = a + c * kLeaf;
      const T factor = x[p] * d;
      UNROLLED for (int q = 0; q < kPacks; ++q) {
        store(x + q * kLanes<T>, load(x + q * kLanes<T>) - factor * column[q]);
      }
      x[p] = factor;
    }
    UNROLLED for (int q = 0; q < kPacks; ++q) store(pivot_column + q * kLanes<T>, -d * column[q]);
    pivot_column[p] = d;
  }
  // Rows were exchanged before, so columns are exchanged back after.
  for (int p = n - 1; p >= 0; --p) {
    if (pivot_row[p] == p) continue;
    for (int r = 0; r < n; ++r) swap(a[p * kLeaf + r], a[pivot_row[p] * kLeaf + r]);
  }
}

template <typename T>
void invert_leaf(int n, T* a) {
  invert_part<T, kLeaf / kLanes<T>>(n, a);
}

// Two packs of rows at a time are copied to where they are dense, so that all columns can be made
// from them and written in place.
template <typename T>
void multiply_leaf(int rows, int columns, T* a, std::int64_t ld, const T* block, Shape shape) {
  constexpr int height = 2 * kLanes<T>;
  alignas(64) T in[kLeaf * height], out[kWide * height];
  for (int at = 0; at < rows; at += height) {
    const bool whole = rows - at >= height;
    const int here = whole ? height : rows - at;
    for (int c = 0; c < columns; ++c) {
      const T* x = a + at + c * ld;
      if (whole) {
        store(in + c * height, load(x));
        store(in + c * height + height / 2, load(x + height / 2));
      } else {
        for (int i = 0; i < height; ++i) in[c * height + i] = i < here ? x[i] : T{0};
      }
    }
    for (int c = 0; c < columns; c += kWide) {
      const int from = shape == Shape::kLower ? c : 0;
      const int to = shape == Shape::kUpper && c + kWide < columns ? c + kWide : columns;
      if (whole && c + kWide <= columns) {
        multiply_strip(in, block + c * kLeaf, from, to, a + at + c * ld, ld);
        continue;
      }
      multiply_strip(in, block + c * kLeaf, from, to, out, height);
      for (int l = 0; l < kWide && c + l < columns; ++l) {
        for (int i = 0; i < here; ++i) a[at + i + (c + l) * ld] = out[l * height + i];
      }
    }
  }
}

template <typename T>
constexpr LeafKernels<T> kTable{invert_leaf<T>, multiply_leaf<T>};

const LeafKernels<float>* leaf_kernels_f32() { return &kTable<float>; }
const LeafKernels<double>* leaf_kernels_f64() { return &kTable<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::transport
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::transport {

ASSAY_DISPATCH(LeafKernels, leaf_kernels);

}  // namespace assay::transport
#endif
