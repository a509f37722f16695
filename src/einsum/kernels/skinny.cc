// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/skinny.h"

#include <algorithm>

#include "base/attend.h"
#include "einsum/kernels/parallel.h"
#include "einsum/kernels/skinny_kernels.h"

namespace assay::einsum {
namespace {

// So many rows of u stay in the first-level cache: 32 KiB with 16 doubles each.
constexpr std::int64_t kDepth = 256;
// A slab n × after up to this size stays in the second-level cache while its columns are taken one
// after the other. Of a larger one, whose rows lie far apart, few rows are read at a time, in long
// runs: rows whose distance is a power of two evict each other.
constexpr std::int64_t kSlabBytes = 512 << 10;
constexpr std::int64_t kFewRows = 16, kRun = 512;
constexpr std::int64_t kRowsAhead = 16, kRunAhead = 32;

// Rows t of `x` in blocks of depth that keep their part of u near.
template <typename T>
void multiply_rows(SkinnyBlock<T> all, std::int64_t depth, std::int64_t rows, bool by_column) {
  const std::int64_t end = all.rows, n = all.depth;
  SkinnyBlock<T> b = all;
  for (std::int64_t t = 0; t < end && still_wanted(); t += rows) {
    b.rows = std::min(rows, end - t);
    for (std::int64_t i = 0; i < n; i += depth) {
      b.depth = std::min(depth, n - i);
      b.x = all.x + t * all.row_stride + i * all.depth_stride;
      b.u = all.u + i * all.columns;
      b.y = all.y + t * all.columns;
      b.add = i > 0;
      b.ahead = all.ahead + t * all.ahead_row + i * all.ahead_depth;
      run_skinny_block(b, by_column);
    }
  }
}

// `width`: elements of x for each (p, i, q).
template <typename T>
void contract(const T* x, const Middle& s, const T* u, std::int64_t columns, T* y, bool by_column,
              int threads) {
  const std::int64_t width = by_column ? columns : 1;
  SkinnyBlock<T> all{.x = x, .rows = 0, .depth = s.n, .u = u, .columns = columns, .y = y};
  if (s.after == 1) {
    all.row_stride = s.n * width;
    all.depth_stride = width;
    parallel_parts(threads, s.before, [&](std::int64_t begin, std::int64_t end) {
      SkinnyBlock<T> part = all;
      part.rows = end - begin;
      part.x = x + begin * all.row_stride;
      part.y = y + begin * columns;
      part.ahead = part.x + kRowsAhead * s.n;
      part.ahead_row = s.n;
      part.ahead_depth = 8;
      multiply_rows(part, kDepth, 64, by_column);
    });
    return;
  }
  const bool small = s.n * s.after * width * static_cast<std::int64_t>(sizeof(T)) <= kSlabBytes;
  all.row_stride = width;
  all.depth_stride = s.after * width;
  const auto slab = [&](std::int64_t p, std::int64_t begin, std::int64_t end) {
    SkinnyBlock<T> part = all;
    part.rows = end - begin;
    part.x = x + (p * s.n * s.after + begin) * width;
    part.y = y + (p * s.after + begin) * columns;
    if (small) {
      part.ahead = part.x + s.n * s.after;
      part.ahead_row = s.n;
      part.ahead_depth = 8;
      multiply_rows(part, kDepth, end - begin, by_column);
    } else {
      part.ahead = part.x + kRunAhead;
      part.ahead_row = 1;
      part.ahead_depth = s.after;
      multiply_rows(part, kFewRows, kRun, by_column);
    }
  };
  if (s.before >= threads) {
    parallel_parts(threads, s.before, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) slab(p, 0, s.after);
    });
  } else {
    parallel_parts(threads, s.after, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = 0; p < s.before; ++p) slab(p, begin, end);
    });
  }
}

}  // namespace

template <typename T>
void multiply_skinny(const T* x, const Middle& shape, const T* u, std::int64_t columns, T* y,
                     int threads) {
  contract(x, shape, u, columns, y, false, threads);
}

template <typename T>
void contract_columns(const T* x, const Middle& shape, const T* u, std::int64_t columns, T* y,
                      int threads) {
  contract(x, shape, u, columns, y, true, threads);
}

template void multiply_skinny(const float*, const Middle&, const float*, std::int64_t, float*, int);
template void multiply_skinny(const double*, const Middle&, const double*, std::int64_t, double*,
                              int);
template void contract_columns(const float*, const Middle&, const float*, std::int64_t, float*,
                               int);
template void contract_columns(const double*, const Middle&, const double*, std::int64_t, double*,
                               int);

}  // namespace assay::einsum
