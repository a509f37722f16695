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
constexpr int kStages = 4;  // chunks under way

struct Chunk {
  float a[kRows][kPitchA];
  float b[kTerms][kPitchB];
};
union Shared {
  Chunk chunks[kStages];
  float sums[kShares][kRows][kColumns + 1];
};

// Four numbers from `from` on, `step` apart, of which `count` exist, on their way to `to`; zeros
// for the others.
__device__ __forceinline__ void send_four(float* to, const float* from, std::int64_t step,
                                          int count, bool whole) {
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if (whole) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
    return;
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at + 4 * e),
                 "l"(e < count ? from + e * step : from), "r"(e < count ? 4 : 0)
                 : "memory");
  }
}

// Rounded to the 11 bits of TF32 as cvt.rna does it, by two instructions of the integer units.
__device__ __forceinline__ unsigned rounded(float x) {
  return (__float_as_uint(x) + 0x1000u) & ~0x1fffu;
}

// High and low part of a number; whether it cannot be split. Its range needs no scale.
__device__ __forceinline__ bool split(float x, unsigned& high, unsigned& low) {
  constexpr unsigned kLeast = (127 - 50) << 23, kMost = (127 + 50) << 23;
  const unsigned size = __float_as_uint(x) & 0x7fffffffu;
  high = rounded(x);
  low = rounded(x - __uint_as_float(high));
  return size - kLeast >= kMost - kLeast && size != 0;
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

  // One group of copies for each chunk, also for one that is not there.
  const auto send = [&](int number) {
    const int first = number * kTerms;
    Chunk& to = shared.chunks[number % kStages];
    const bool full = first + kTerms <= p.k;
    if (first < p.k) {
#pragma unroll
      for (int i = 0; i < kRows * kTerms / 4 / kSmallThreads; ++i) {
        const int r = (i * kSmallThreads + t) / (kTerms / 4), k = t % (kTerms / 4) * 4;
        const bool exists = row0 + r < p.m && first + k < p.k;
        send_four(&to.a[r][k],
                  exists ? a + (row0 + r) * p.a.row_stride + (first + k) * p.a.term_stride : a,
                  p.a.term_stride, exists ? p.k - first - k : 0, full_a && full);
      }
#pragma unroll
      for (int i = 0; i < kColumns * kTerms / 4 / kSmallThreads; ++i) {
        const int k = (i * kSmallThreads + t) / (kColumns / 4), c = t % (kColumns / 4) * 4;
        const bool exists = column0 + c < p.n && first + k < p.k;
        send_four(&to.b[k][c],
                  exists ? b + (column0 + c) * p.b.row_stride + (first + k) * p.b.term_stride : b,
                  p.b.row_stride, exists ? p.n - column0 - c : 0, full_b && full);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };

  // A warp has half of the rows and all columns, and a quarter of the terms of each chunk.
  const int rows = warp % 2 * 32, share = warp / 2;
  float total[2][4][4] = {}, large[2][4][4] = {}, small[2][4][4] = {};
  bool is_bad = false;
  for (int number = 0; number < kStages - 1; ++number) send(number);
  for (int number = 0; number * kTerms < p.k; ++number) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();  // everybody's copies are there, and the chunk before has been read
    send(number + kStages - 1);
    const Chunk& chunk = shared.chunks[number % kStages];
#pragma unroll
    for (int step = 0; step < kTerms / 8 / kShares; ++step) {
      const int k = (share * (kTerms / 8 / kShares) + step) * 8 + lane % 4;
      unsigned left[2][2][4], right[2][4][2];  // [part][tile][register]
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float x = chunk.a[rows + 16 * i + lane / 4 + e % 2 * 8][k + e / 2 * 4];
          is_bad = split(x, left[0][i][e], left[1][i][e]) || is_bad;
        }
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const float x = chunk.b[k + 4 * e][8 * j + lane / 4];
          is_bad = split(x, right[0][j][e], right[1][j][e]) || is_bad;
        }
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          mma_tf32(large[i][j], left[0][i], right[0][j]);
          mma_tf32(small[i][j], left[0][i], right[1][j]);
        }
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) mma_tf32(small[i][j], left[1][i], right[0][j]);
      }
    }
    if ((number + 1) % (128 * kShares / kTerms) != 0) continue;
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
        small[i][j][at] + (total[i][j][at] + large[i][j][at]);
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
  check(cudaFuncSetAttribute(small_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             sizeof(Shared)),  // of each device by itself
        "small_kernel's shared memory");
  const int tiles_n = static_cast<int>(ceil_div(p.n, kColumns));
  const dim3 grid(static_cast<unsigned>(ceil_div(p.m, kRows) * tiles_n),
                  static_cast<unsigned>(p.batches));
  launch_kernel(small_kernel, grid, kSmallThreads, sizeof(Shared), stream, false, p, tiles_n,
                in_fours(p.a, p.a.term_stride, p.a.row_stride),
                in_fours(p.b, p.b.row_stride, p.b.term_stride));
}

}  // namespace assay::semiring::cuda
