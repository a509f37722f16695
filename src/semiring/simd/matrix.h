// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the routes of this backend take: matrices of a working type with any strides.

#include <cstdint>

#include "kernels/tiles/blocked_product.h"
#include "kernels/tiles/caches.h"
#include "kernels/tiles/pack_kernels.h"

namespace assay::semiring::simd {

using kernels::Output;

// Element (i, j) at data[i·row_stride + j·column_stride].
template <typename T>
struct Matrix {
  const T* data;
  std::int64_t row_stride, column_stride;

  // Rows [first, first + count) × columns [begin, begin + terms), panel across the rows.
  kernels::PanelSource<T> rows(std::int64_t first, int count, std::int64_t begin,
                               std::int64_t terms) const {
    return {data + first * row_stride + begin * column_stride, row_stride, column_stride, terms,
            count};
  }
  // Columns [first, first + count) × rows [begin, begin + terms), panel across the columns.
  kernels::PanelSource<T> columns(std::int64_t first, int count, std::int64_t begin,
                                  std::int64_t terms) const {
    return {data + begin * row_stride + first * column_stride, column_stride, row_stride, terms,
            count};
  }
};

// (m,k)·(k,n), each at least 1.
struct Extents {
  std::int64_t m, k, n;
  double pairs() const {
    return static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  }
};

struct Execution {
  kernels::CacheSizes caches;
  int threads = 1;
};

}  // namespace assay::semiring::simd
