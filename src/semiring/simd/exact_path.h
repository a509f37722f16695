// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The entries of a tile that a certificate refused, computed again from their terms: a vector of
// columns for up to twelve rows at a time, straight from the factors where they lie well for it.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/memory/scratch.h"
#include "semiring/simd/certified_kernels.h"
#include "semiring/simd/matrix.h"

namespace assay::semiring::simd {

template <typename T>
class ExactPath {
 public:
  // Memory: terms·(lanes + rows) elements for each thread, touched only when they are needed.
  ExactPath(const Matrix<T>& a, const Matrix<T>& b, const Extents& e, int threads)
      : a_(a),
        b_(b),
        e_(e),
        kernels_(certified_kernels(T{})),
        pack_(kernels::pack_kernels(T{})),
        room_(e.k * (kernels_.lanes + kMostRows)),
        scratch_(room_ * threads) {}

  // For each refused entry (bit j of refused[i]) of the tile at (row, column): calls
  // put(i, j, value) with tile coordinates, `value` as the exact kernel gave it. Returns how many.
  template <class Put>
  std::int64_t recompute(
      const std::array<typename CertifiedKernels<T>::Exact, CertifiedKernels<T>::kMaxForms>& exact,
      std::int64_t block, std::int64_t row, int rows, std::int64_t column, int columns,
      const RowBits* refused, int thread, const Put& put) const noexcept {
    std::int64_t count = 0;
    const int lanes = kernels_.lanes, most = CertifiedKernels<T>::kFormRows * kernels_.forms;
    for (int first = 0; first < columns; first += lanes) {
      const RowBits mask = lanes == 64 ? ~RowBits{0} : ((RowBits{1} << lanes) - 1) << first;
      Columns right{};
      for (int i = 0; i < rows;) {
        int chosen[kMostRows];
        int size = 0;
        for (; i < rows && size < most; ++i) {
          if ((refused[i] & mask) != 0) chosen[size++] = i;
        }
        if (size == 0) break;
        if (right.data == nullptr) right = columns_at(column + first, thread);
        alignas(64) T results[kMostRows * kMostLanes];
        run(exact, block, row, chosen, size, right, thread, results);
        for (int r = 0; r < size; ++r) {
          for (RowBits bits = refused[chosen[r]] & mask; bits != 0; bits &= bits - 1) {
            const int j = std::countr_zero(bits);
            put(chosen[r], j, results[r * lanes + j - first]);
            ++count;
          }
        }
      }
    }
    return count;
  }

 private:
  static constexpr int kMostRows = CertifiedKernels<T>::kFormRows * CertifiedKernels<T>::kMaxForms;
  static constexpr int kMostLanes = 64;

  struct Columns {
    const T* data;
    std::int64_t stride;  // between terms
  };

  // A vector of columns from `first` on, term by term.
  Columns columns_at(std::int64_t first, int thread) const noexcept {
    const auto count = static_cast<int>(std::min<std::int64_t>(kernels_.lanes, e_.n - first));
    if (b_.column_stride == 1 && count == kernels_.lanes) {
      return {b_.data + first, b_.row_stride};
    }
    T* packed = scratch_.data() + thread * room_;
    pack_.copy(b_.columns(first, count, 0, e_.k), kernels_.lanes, packed);
    return {packed, kernels_.lanes};
  }

  void run(
      const std::array<typename CertifiedKernels<T>::Exact, CertifiedKernels<T>::kMaxForms>& exact,
      std::int64_t block, std::int64_t row, const int* chosen, int size, const Columns& right,
      int thread, T* results) const noexcept {
    T* staged = scratch_.data() + thread * room_ + e_.k * kernels_.lanes;
    const T* left[kMostRows];
    for (int r = 0; r < kMostRows; ++r) {
      if (r >= size) {  // the kernel's rows beyond ours repeat the last one
        left[r] = left[r - 1];
        continue;
      }
      left[r] = a_.data + (row + chosen[r]) * a_.row_stride;
      if (a_.column_stride == 1) continue;
      for (std::int64_t l = 0; l < e_.k; ++l) {
        staged[r * e_.k + l] = left[r][l * a_.column_stride];
      }
      left[r] = staged + r * e_.k;
    }
    const int form = (size - 1) / CertifiedKernels<T>::kFormRows;
    exact[static_cast<std::size_t>(form)](e_.k, block, left, right.data, right.stride, results);
  }

  const Matrix<T> a_, b_;
  const Extents e_;
  const CertifiedKernels<T>& kernels_;
  const kernels::PackKernels<T>& pack_;
  const std::int64_t room_;
  const kernels::AlignedArray<T> scratch_;
};

// A counter for each thread, on a cache line of its own.
class ThreadCounters {
 public:
  explicit ThreadCounters(int threads) : threads_(threads), counts_(threads * kStride) {
    for (int t = 0; t < threads; ++t) counts_[t * kStride] = 0;
  }
  void add(int thread, std::int64_t count) const { counts_[thread * kStride] += count; }
  std::int64_t total() const {
    std::int64_t sum = 0;
    for (int t = 0; t < threads_; ++t) sum += counts_[t * kStride];
    return sum;
  }

 private:
  static constexpr std::int64_t kStride = 8;
  int threads_;
  kernels::AlignedArray<std::int64_t> counts_;
};

}  // namespace assay::semiring::simd
