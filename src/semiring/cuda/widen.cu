// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/cuda/widen.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace assay::semiring::cuda {
namespace {

__device__ float wide(__half x) { return __half2float(x); }
__device__ float wide(__nv_bfloat16 x) { return __bfloat162float(x); }

// Dense in the order (batch, slow, fast).
template <typename T>
__global__ void __launch_bounds__(256)
    widen_kernel(const T* from, Strides strides, std::int64_t slow, std::int64_t fast,
                 std::int64_t all, float* to, const int* wanted) {
  if (wanted != nullptr && *wanted == 0) return;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * 256;
  for (std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x; e < all;
       e += step) {
    const std::int64_t line = e / fast, batch = line / slow;
    to[e] = wide(from[batch * strides.batch + (line - batch * slow) * strides.row +
                      (e - line * fast) * strides.column]);
  }
}

// A factor of so many rows and columns: its copy, whose strides take the place of the given ones.
const void* widened_factor(Scalar scalar, const void* from, Strides& strides, std::int64_t batches,
                           std::int64_t rows, std::int64_t columns, Arena& arena,
                           cudaStream_t stream, const int* wanted) {
  const std::int64_t copies = strides.batch == 0 ? 1 : batches, all = copies * rows * columns;
  auto* const to = arena.take<float>(all);
  Strides read = strides;
  const bool by_columns = std::llabs(strides.row) < std::llabs(strides.column);
  strides = by_columns ? Strides{1, rows, rows * columns} : Strides{columns, 1, rows * columns};
  if (read.batch == 0) strides.batch = 0;
  if (arena.counts_only()) return to;
  if (by_columns) {
    std::swap(rows, columns);
    std::swap(read.row, read.column);
  }
  const std::int64_t most = wanted == nullptr ? 1 << 20 : 1024;  // that may have nothing to do
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::int64_t>(ceil_div(all, 4 * 256), 1, most));
  if (scalar == Scalar::kF16) {
    widen_kernel<<<blocks, 256, 0, stream>>>(static_cast<const __half*>(from), read, rows, columns,
                                             all, to, wanted);
  } else {
    widen_kernel<<<blocks, 256, 0, stream>>>(static_cast<const __nv_bfloat16*>(from), read, rows,
                                             columns, all, to, wanted);
  }
  check(cudaGetLastError(), "widen_kernel");
  return to;
}

}  // namespace

Matmul widened(const Matmul& matmul, Arena& arena, cudaStream_t stream, const int* wanted) {
  Matmul q = matmul;
  q.scalar = Scalar::kF32;
  q.a = widened_factor(matmul.scalar, q.a, q.a_strides, q.batches, q.m, q.k, arena, stream, wanted);
  q.b = widened_factor(matmul.scalar, q.b, q.b_strides, q.batches, q.k, q.n, arena, stream, wanted);
  return q;
}

}  // namespace assay::semiring::cuda
