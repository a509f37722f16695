// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "transport/cuda/invert.h"
#include "transport/cuda/launch.h"
#include "transport/cuda/leaves.cuh"

namespace assay::transport::cuda {
namespace {

constexpr int kExchanged = 16;  // columns of a leaf with pivots in all rows
constexpr unsigned kWarp = 0xffffffffu;

// The place with the largest size, lowest first, in all lanes.
__device__ int strongest(double& size, int at) {
  for (int step = 16; step > 0; step /= 2) {
    const double other = __shfl_xor_sync(kWarp, size, step);
    const int other_at = __shfl_xor_sync(kWarp, at, step);
    if (other > size || (other == size && other_at < at)) {
      size = other;
      at = other_at;
    }
  }
  return at;
}
// What a pivot is judged by: NaN is one only where there is nothing else.
__device__ double size_of(double x) {
  const double size = fabs(x);
  return size == size ? size : -1.0;
}

// Gauss–Jordan of the columns [j, j + width), exchanging rows: the pivot of column p is searched in
// the rows from p on. One block of threads for each matrix; the columns are in shared memory where
// they fit (`in_shared`).
__global__ void __launch_bounds__(512)
    eliminate_exchanging(Matrices a, int j, int width, std::int32_t* pivots, int pivot_step,
                         bool in_shared) {
  extern __shared__ double panel_memory[];
  __shared__ double best[16], pivot_row[kExchanged];
  __shared__ int best_at[16], chosen;
  const int i = static_cast<int>(blockIdx.x), t = static_cast<int>(threadIdx.x), n = a.n;
  double* const columns = a.data + i * a.step + static_cast<std::int64_t>(j) * a.ld;
  double* const panel = in_shared ? panel_memory : columns;
  const int ld = in_shared ? n : a.ld;
  if (in_shared) {
    for (int c = 0; c < width; ++c) {
      for (int r = t; r < n; r += 512) {
        panel[r + static_cast<std::int64_t>(c) * ld] =
            columns[r + static_cast<std::int64_t>(c) * a.ld];
      }
    }
    __syncthreads();
  }
  for (int p = 0; p < width; ++p) {
    double* const column = panel + static_cast<std::int64_t>(p) * ld;
    double size = -2;
    int at = n;
    for (int r = j + p + t; r < n; r += 512) {
      const double value = size_of(column[r]);
      if (value > size) {
        size = value;
        at = r;
      }
    }
    at = strongest(size, at);
    if (t % 32 == 0) {
      best[t / 32] = size;
      best_at[t / 32] = at;
    }
    __syncthreads();
    if (t < 32) {
      size = t < 16 ? best[t] : -3.0;
      at = t < 16 ? best_at[t] : n;
      at = strongest(size, at);
      // Lane c exchanges column c, and makes the pivot's row.
      const int row = j + p;
      if (t < width) {
        double* const own = panel + static_cast<std::int64_t>(t) * ld;
        const double x = own[at];
        own[at] = own[row];
        own[row] = x;
      }
      __syncwarp();
      const double pivot = column[row];
      __syncwarp();
      if (t < width) {
        double* const own = panel + static_cast<std::int64_t>(t) * ld;
        own[row] = (t == p ? 1.0 : own[row]) / pivot;
        pivot_row[t] = own[row];
      }
      if (t == 0) {
        pivots[static_cast<std::int64_t>(i) * pivot_step + row] = at;
        chosen = row;
      }
    }
    __syncthreads();
    for (int r = t; r < n; r += 512) {
      if (r == chosen) continue;
      const double factor = column[r];
      for (int c = 0; c < width; ++c) {
        double& x = panel[r + static_cast<std::int64_t>(c) * ld];
        x = (c == p ? 0.0 : x) - factor * pivot_row[c];
      }
    }
    __syncthreads();
  }
  if (!in_shared) return;
  for (int c = 0; c < width; ++c) {
    for (int r = t; r < n; r += 512) {
      columns[r + static_cast<std::int64_t>(c) * a.ld] =
          panel[r + static_cast<std::int64_t>(c) * ld];
    }
  }
}

// Where each of the n rows (or columns) comes from after the exchanges of [first, first + width),
// in their order or in reverse. For one block of threads; `exchanged` has room for `width` numbers.
__device__ void follow_exchanges(const std::int32_t* pivots, int first, int width, bool reverse,
                                 int n, int* source, int* exchanged) {
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int r = t; r < n; r += threads) source[r] = r;
  for (int p = t; p < width; p += threads) exchanged[p] = pivots[first + p];
  __syncthreads();
  if (t == 0) {
    for (int step = 0; step < width; ++step) {
      const int p = reverse ? width - 1 - step : step;
      const int other = exchanged[p], x = source[first + p];
      source[first + p] = source[other];
      source[other] = x;
    }
  }
  __syncthreads();
}

// The rows of the columns [from, from + count) are exchanged as the pivots [first, first + width)
// say: a warp for each column, 32 columns for a block of threads.
__global__ void __launch_bounds__(256)
    exchange_rows(Matrices a, int first, int width, int from, int count, const std::int32_t* pivots,
                  int pivot_step) {
  extern __shared__ double staged[];  // a column for each warp; then two lists
  const int i = static_cast<int>(blockIdx.y), t = static_cast<int>(threadIdx.x);
  const int warps = static_cast<int>(blockDim.x) / 32, lane = t % 32, warp = t / 32;
  int* const source = reinterpret_cast<int*>(staged + static_cast<std::int64_t>(warps) * a.n);
  follow_exchanges(pivots + static_cast<std::int64_t>(i) * pivot_step, first, width, false, a.n,
                   source, source + a.n);
  double* const mine = staged + static_cast<std::int64_t>(warp) * a.n;
  const int last = min(count, (static_cast<int>(blockIdx.x) + 1) * 32);
  for (int c = static_cast<int>(blockIdx.x) * 32 + warp; c < last; c += warps) {
    double* const column = a.data + i * a.step + static_cast<std::int64_t>(from + c) * a.ld;
    for (int r = first + lane; r < a.n; r += 32) {
      if (source[r] != r) mine[r] = column[source[r]];
    }
    __syncwarp();
    for (int r = first + lane; r < a.n; r += 32) {
      if (source[r] != r) column[r] = mine[r];
    }
    __syncwarp();
  }
}

// Rows [j, j + width) of the columns [k, k + count) go to `rows`, width×count, and become zero.
__global__ void __launch_bounds__(256)
    take_rows(Matrices a, int j, int width, int k, int count, double* rows) {
  const int i = static_cast<int>(blockIdx.y), lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(blockIdx.x) * 8 + static_cast<int>(threadIdx.x) / 32;
  double* const to = rows + i * (static_cast<std::int64_t>(width) * count);
  double* const from = a.data + i * a.step + j + static_cast<std::int64_t>(k) * a.ld;
  for (int c = warp; c < count; c += static_cast<int>(gridDim.x) * 8) {
    for (int r = lane; r < width; r += 32) {
      double& x = from[r + static_cast<std::int64_t>(c) * a.ld];
      to[r + static_cast<std::int64_t>(c) * width] = x;
      x = 0;
    }
  }
}

constexpr int kRowsAtOnce = 4;

// The exchanges of rows, in reverse, as exchanges of columns: a block of threads for some rows.
__global__ void __launch_bounds__(256)
    restore_columns(Matrices a, const std::int32_t* pivots, int pivot_step) {
  extern __shared__ double tile[];  // kRowsAtOnce rows of all columns; then two lists
  int* const source = reinterpret_cast<int*>(tile + kRowsAtOnce * a.n);
  const int i = static_cast<int>(blockIdx.y), t = static_cast<int>(threadIdx.x), n = a.n;
  follow_exchanges(pivots + static_cast<std::int64_t>(i) * pivot_step, 0, n, true, n, source,
                   source + n);
  constexpr int kTiles = 8;  // that share the order
  for (int part = 0; part < kTiles; ++part) {
    const int first = (static_cast<int>(blockIdx.x) * kTiles + part) * kRowsAtOnce;
    double* const rows = a.data + i * a.step + first;
    for (int at = t; at < kRowsAtOnce * n; at += 256) {
      const int r = at % kRowsAtOnce, c = at / kRowsAtOnce;
      if (first + r < n) tile[at] = rows[r + static_cast<std::int64_t>(c) * a.ld];
    }
    __syncthreads();
    for (int at = t; at < kRowsAtOnce * n; at += 256) {
      const int r = at % kRowsAtOnce, c = at / kRowsAtOnce;
      if (first + r < n) {
        rows[r + static_cast<std::int64_t>(c) * a.ld] = tile[r + kRowsAtOnce * source[c]];
      }
    }
    __syncthreads();
  }
}

std::int64_t half_squared(int n) {
  const std::int64_t half = n / 2 + kLeaf;
  return half * half;
}

}  // namespace

BatchedInverse::BatchedInverse(int most_rows, int most_matrices, kernels::cuda::Memory& memory,
                               kernels::cuda::Stream stream, const kernels::cuda::Cublas& cublas)
    : stream_(stream), cublas_(&cublas), most_rows_(most_rows) {
  const auto matrices = static_cast<std::size_t>(most_matrices);
  const auto half = static_cast<std::size_t>(half_squared(most_rows));
  rows_ = static_cast<double*>(memory.allocate(matrices * half * sizeof(double)));
  leaves_ = static_cast<double*>(memory.allocate(matrices * kLeaf * kLeaf * sizeof(double)));
  pivots_ = static_cast<std::int32_t*>(
      memory.allocate(matrices * static_cast<std::size_t>(most_rows) * sizeof(std::int32_t)));
}

double BatchedInverse::bytes_of_matrix(int rows) {
  return 8.0 * static_cast<double>(half_squared(rows) + kLeaf * kLeaf) + 4.0 * rows;
}

void BatchedInverse::invert(const Matrices& a, bool exchanging) {
  if (a.n == 0 || a.count == 0) return;
  eliminate(a, 0, a.n, exchanging);
  if (!exchanging) return;
  const auto bytes =
      (kRowsAtOnce * sizeof(double) + 2 * sizeof(int)) * static_cast<std::size_t>(a.n);
  launch(restore_columns, dim3(blocks(a.n, 8 * kRowsAtOnce), blocks(a.count, 1)), 256, bytes,
         stream_, a, pivots_, most_rows_);
}

void BatchedInverse::eliminate(const Matrices& a, int j, int width, bool exchanging) {
  const int leaf = exchanging ? kExchanged : kLeaf;
  if (width > leaf) {
    // In whole leaves, so that only the last leaf of all is a small one.
    const int half = (width / 2 + leaf / 2) / leaf * leaf, rest = width - half;
    eliminate(a, j, half, exchanging);
    tell(a, j, half, j + half, rest, exchanging);
    eliminate(a, j + half, rest, exchanging);
    tell(a, j + half, rest, j, half, exchanging);
    return;
  }
  if (!exchanging) {
    eliminate_leaves(a, j, width, leaves_, stream_);
    return;
  }
  const auto bytes = static_cast<std::size_t>(a.n) * kExchanged * sizeof(double);
  const bool in_shared = bytes <= most_shared_bytes() - 2048;
  launch(eliminate_exchanging, dim3(blocks(a.count, 1)), 512, in_shared ? bytes : 0, stream_, a, j,
         width, pivots_, most_rows_, in_shared);
}

// What eliminating J = [j, j + width) does to the columns [k, k + count).
void BatchedInverse::tell(const Matrices& a, int j, int width, int k, int count, bool exchanging) {
  if (exchanging) {
    const auto n = static_cast<std::size_t>(a.n);
    const auto bytes = [&](std::size_t warps) {
      return warps * n * sizeof(double) + 2 * n * sizeof(int);
    };
    const unsigned warps = bytes(8) <= most_shared_bytes() ? 8 : 1;
    launch(exchange_rows, dim3(blocks(count, 32), blocks(a.count, 1)), 32 * warps, bytes(warps),
           stream_, a, j, width, k, count, static_cast<const std::int32_t*>(pivots_), most_rows_);
  }
  const std::int64_t all = static_cast<std::int64_t>(width) * count;
  launch(take_rows, dim3(blocks(count, 16), blocks(a.count, 1)), 256, 0, stream_, a, j, width, k,
         count, rows_);
  const auto column = [&](int c) {
    return kernels::cuda::Cublas::Columns{a.data + static_cast<std::int64_t>(c) * a.ld, a.ld,
                                          a.step};
  };
  cublas_->gemm_columns(a.n, count, width, column(j), {rows_, width, all}, 1.0, column(k), a.count);
}

}  // namespace assay::transport::cuda
