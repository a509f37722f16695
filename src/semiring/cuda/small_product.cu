// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/cuda/small_product.h"

#include "semiring/cuda/tf32.cuh"

namespace assay::semiring::cuda {
namespace {

constexpr int kSmallThreads = 256;
constexpr int kRows = 64, kColumns = 32, kTerms = 64;  // of a tile, of a chunk
constexpr int kShares = 4;                             // warps that share a chunk's terms
// Rows of A lie 68 numbers apart, rows of B 40: no two lanes of a fragment in a bank.
constexpr int kPitchA = kTerms + 4, kPitchB = kColumns + 8;
constexpr int kLoadsA = kRows * kTerms / 4 / kSmallThreads;
constexpr int kLoadsB = kColumns * kTerms / 4 / kSmallThreads;

struct Chunk {
  float a[2][kRows][kPitchA];  // high and low parts
  float b[2][kTerms][kPitchB];
};
union Shared {
  Chunk chunk;
  float sums[kShares][kRows][kColumns + 1];
};

// Four numbers from `at` on, `step` apart, of which `count` exist.
__device__ __forceinline__ float4 four(const float* at, std::int64_t step, int count, bool whole) {
  if (whole) return *reinterpret_cast<const float4*>(at);
  return {count > 0 ? at[0] : 0.0f, count > 1 ? at[step] : 0.0f, count > 2 ? at[2 * step] : 0.0f,
          count > 3 ? at[3 * step] : 0.0f};
}

// High and low parts of four numbers; whether one of them cannot be split.
__device__ __forceinline__ bool put(const float4& x, float* high, float* low) {
  constexpr unsigned kLeast = (127 - 50) << 23, kMost = (127 + 50) << 23;
  const float in[4] = {x.x, x.y, x.z, x.w};
  float h[4], l[4];
  bool is_bad = false;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const unsigned size = __float_as_uint(in[e]) & 0x7fffffffu;
    is_bad = is_bad || (size - kLeast >= kMost - kLeast && size != 0);
    h[e] = to_tf32(in[e]);
    l[e] = to_tf32((in[e] - h[e]) * 2048);
  }
  *reinterpret_cast<float4*>(high) = {h[0], h[1], h[2], h[3]};
  *reinterpret_cast<float4*>(low) = {l[0], l[1], l[2], l[3]};
  return is_bad;
}

__global__ void __launch_bounds__(kSmallThreads)
    small_kernel(const __grid_constant__ SmallProduct p, int tiles_n, bool whole_a, bool whole_b) {
  extern __shared__ float4 raw_shared[];
  Shared& shared = *reinterpret_cast<Shared*>(raw_shared);
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  const int tile = static_cast<int>(blockIdx.x), batch = static_cast<int>(blockIdx.y);
  const int row0 = tile / tiles_n * kRows, column0 = tile % tiles_n * kColumns;
  const float* const a = p.a.data + batch * p.a.batch_stride;
  const float* const b = p.b.data + batch * p.b.batch_stride;
  const bool full_a = whole_a && row0 + kRows <= p.m, full_b = whole_b && column0 + kColumns <= p.n;

  float4 from_a[kLoadsA], from_b[kLoadsB];
  const auto load = [&](int first) {
    const bool full = first + kTerms <= p.k;
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      const int row = row0 + (i * kSmallThreads + t) / (kTerms / 4);
      const int term = first + t % (kTerms / 4) * 4;
      from_a[i] = four(a + row * p.a.row_stride + term * p.a.term_stride, p.a.term_stride,
                       row < p.m ? p.k - term : 0, full_a && full);
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      const int term = first + (i * kSmallThreads + t) / (kColumns / 4);
      const int column = column0 + t % (kColumns / 4) * 4;
      from_b[i] = four(b + column * p.b.row_stride + term * p.b.term_stride, p.b.row_stride,
                       term < p.k ? p.n - column : 0, full_b && full);
    }
  };

  // A warp has half of the rows and all columns, and a quarter of the terms of each chunk.
  const int rows = warp % 2 * 32, share = warp / 2;
  float total[2][4][4] = {}, large[2][4][4] = {}, small[2][4][4] = {};
  bool is_bad = false;
  load(0);
  for (int first = 0, number = 1; first < p.k; first += kTerms, ++number) {
    Chunk& chunk = shared.chunk;
    __syncthreads();  // the chunk before has been read
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      const int r = (i * kSmallThreads + t) / (kTerms / 4), k = t % (kTerms / 4) * 4;
      is_bad = put(from_a[i], &chunk.a[0][r][k], &chunk.a[1][r][k]) || is_bad;
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      const int k = (i * kSmallThreads + t) / (kColumns / 4), c = t % (kColumns / 4) * 4;
      is_bad = put(from_b[i], &chunk.b[0][k][c], &chunk.b[1][k][c]) || is_bad;
    }
    __syncthreads();
    if (first + kTerms < p.k) load(first + kTerms);
#pragma unroll
    for (int step = 0; step < kTerms / 8 / kShares; ++step) {
      const int k = (share * (kTerms / 8 / kShares) + step) * 8 + lane % 4;
      unsigned left[2][2][4], right[2][4][2];  // [part][tile][register]
#pragma unroll
      for (int part = 0; part < 2; ++part) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int r = rows + 16 * i + lane / 4;
          left[part][i][0] = __float_as_uint(chunk.a[part][r][k]);
          left[part][i][1] = __float_as_uint(chunk.a[part][r + 8][k]);
          left[part][i][2] = __float_as_uint(chunk.a[part][r][k + 4]);
          left[part][i][3] = __float_as_uint(chunk.a[part][r + 8][k + 4]);
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          right[part][j][0] = __float_as_uint(chunk.b[part][k][8 * j + lane / 4]);
          right[part][j][1] = __float_as_uint(chunk.b[part][k + 4][8 * j + lane / 4]);
        }
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          mma_tf32(large[i][j], left[0][i], right[0][j]);
          mma_tf32(small[i][j], left[0][i], right[1][j]);
          mma_tf32(small[i][j], left[1][i], right[0][j]);
        }
      }
    }
    if (number % (128 * kShares / kTerms) != 0) continue;
#pragma unroll
    for (int e = 0; e < 32; ++e) {
      total[e / 16][e / 4 % 4][e % 4] += large[e / 16][e / 4 % 4][e % 4];
      large[e / 16][e / 4 % 4][e % 4] = 0;
    }
  }
  const bool is_refused = __syncthreads_or(is_bad) != 0;
#pragma unroll
  for (int e = 0; e < 32; ++e) {
    const int i = e / 16, j = e / 4 % 4, at = e % 4;
    shared.sums[share][rows + 16 * i + lane / 4 + at / 2 * 8][8 * j + lane % 4 * 2 + at % 2] =
        fmaf(small[i][j][at], 0x1p-11f, total[i][j][at] + large[i][j][at]);
  }
  __syncthreads();
  unsigned entries = 0;
  float* const c = p.c.data + batch * p.c.batch_stride;
#pragma unroll
  for (int i = 0; i < kRows * kColumns / kSmallThreads; ++i) {
    const int at = i * kSmallThreads + t, r = at / kColumns, q = at % kColumns;
    if (row0 + r >= p.m || column0 + q >= p.n) continue;
    float sum = (shared.sums[0][r][q] + shared.sums[1][r][q]) +
                (shared.sums[2][r][q] + shared.sums[3][r][q]);
    if (is_refused) {
      sum = 0;
      const float* const x = a + (row0 + r) * p.a.row_stride;
      const float* const y = b + (column0 + q) * p.b.row_stride;
      for (int k = 0; k < p.k; ++k) sum = fmaf(x[k * p.a.term_stride], y[k * p.b.term_stride], sum);
      ++entries;
    }
    c[(row0 + r) * p.c.row_stride + (column0 + q) * p.c.column_stride] = sum;
  }
  if (is_refused && p.refused != nullptr) atomicAdd(p.refused, entries);
}

// Whether fours that begin at multiples of four are on boundaries of sixteen bytes.
bool in_fours(const Factor<float>& f, std::int64_t contiguous, std::int64_t other) {
  return contiguous == 1 && other % 4 == 0 && f.batch_stride % 4 == 0 &&
         reinterpret_cast<std::uintptr_t>(f.data) % 16 == 0;
}

}  // namespace

bool is_small_product(std::int64_t batches, std::int64_t m, std::int64_t n, std::int64_t k,
                      int multiprocessors) {
  constexpr std::int64_t kFew = 32, kMany = 1024;
  return k >= kFew && k <= kMany &&
         batches * ceil_div(m, kRows) * ceil_div(n, kColumns) <= 2 * multiprocessors;
}

void small_product(const SmallProduct& p, cudaStream_t stream) {
  static const cudaError_t allowed = cudaFuncSetAttribute(
      small_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared));
  check(allowed, "small_kernel's shared memory");
  const int tiles_n = static_cast<int>(ceil_div(p.n, kColumns));
  const dim3 grid(static_cast<unsigned>(ceil_div(p.m, kRows) * tiles_n),
                  static_cast<unsigned>(p.batches));
  launch_kernel(small_kernel, grid, kSmallThreads, sizeof(Shared), stream, false, p, tiles_n,
                in_fours(p.a, p.a.term_stride, p.a.row_stride),
                in_fours(p.b, p.b.row_stride, p.b.term_stride));
}

}  // namespace assay::semiring::cuda
