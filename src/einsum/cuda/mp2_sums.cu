// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// T of a pair is read once: a block takes a square of it and the one that mirrors it, turns the
// latter in its own memory, and leaves two sums. Squares below the diagonal are nobody's.
#include <cuda_runtime.h>

#include "einsum/cuda/launch.h"
#include "einsum/cuda/mp2_sums.h"

namespace assay::einsum::cuda {
namespace {

constexpr int kSide = 64, kThreads = 256, kWarp = 32;
constexpr int kRows = kThreads / kSide;  // of a square at a time

__device__ inline double sum_of_block(double x, double* of_warp) {
  for (int apart = kWarp / 2; apart > 0; apart /= 2) x += __shfl_down_sync(0xFFFFFFFFu, x, apart);
  __syncthreads();
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = x;
  __syncthreads();
  x = 0;
  for (int w = 0; w < kThreads / kWarp; ++w) x += of_warp[w];
  return x;
}

// Block (s, pair): square number s of the triangle, rows of squares r ≤ columns q.
__global__ void __launch_bounds__(kThreads)
    sum_pairs_kernel(const PairTiles tiles, const double* __restrict__ occupied,
                     const double* __restrict__ virtuals, double* __restrict__ sums) {
  __shared__ double turned[kSide][kSide + 1];
  __shared__ double of_warp[kThreads / kWarp];
  int q = static_cast<int>((sqrtf(8.0f * blockIdx.x + 1.0f) - 1.0f) / 2.0f);
  while ((q + 1) * (q + 2) / 2 <= static_cast<int>(blockIdx.x)) ++q;
  while (q * (q + 1) / 2 > static_cast<int>(blockIdx.x)) --q;
  const int r = static_cast<int>(blockIdx.x) - q * (q + 1) / 2;
  const int n = tiles.nvir, a0 = r * kSide, b0 = q * kSide;
  const int j = tiles.first_j + static_cast<int>(blockIdx.y);
  const double* const t = tiles.t + static_cast<std::int64_t>(blockIdx.y) * n;
  const int column = threadIdx.x % kSide, row0 = threadIdx.x / kSide;
  // y: rows b0 …, columns a0 …
#pragma unroll 4
  for (int row = row0; row < kSide; row += kRows) {
    const bool inside = b0 + row < n && a0 + column < n;
    turned[row][column] = inside ? t[(b0 + row) * tiles.ld + a0 + column] : 0;
  }
  __syncthreads();
  const double pair_energy = occupied[tiles.i] + occupied[j];
  const int b = b0 + column;
  const double base = b < n ? pair_energy - virtuals[b] : 0;
  double opposite = 0, same = 0;
#pragma unroll 4
  for (int row = row0; row < kSide; row += kRows) {
    const int a = a0 + row;
    if (a < n && b < n && a <= b) {
      const double x = t[a * tiles.ld + b], y = turned[column][row];
      const double reciprocal = 1 / (base - virtuals[a]);
      if (a == b) {
        opposite += x * x * reciprocal;
      } else {
        const double difference = x - y;
        opposite += (x * x + y * y) * reciprocal;
        same += difference * difference * reciprocal;
      }
    }
  }
  opposite = sum_of_block(opposite, of_warp);
  same = sum_of_block(same, of_warp);
  if (threadIdx.x == 0) {
    const double weight = tiles.i == j ? 1 : 2;
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
    sums[2 * at] = weight * opposite;
    sums[2 * at + 1] = weight * same;
  }
}

// A sum that keeps what rounding takes away (Neumaier).
struct Sum {
  double value, lost;
  __device__ void add(double x) {
    const double sum = value + x;
    lost += fabs(value) >= fabs(x) ? (value - sum) + x : (x - sum) + value;
    value = sum;
  }
  __device__ void add(const Sum& other) {
    add(other.value);
    lost += other.lost;
  }
};

// One block: each thread its share in order, then the threads in order.
__global__ void __launch_bounds__(1024)
    add_energies_kernel(const double* sums, std::int64_t count, double* energy) {
  __shared__ Sum opposite[1024], same[1024];
  Sum o{0, 0}, s{0, 0};
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) {
    o.add(sums[2 * i]);
    s.add(sums[2 * i + 1]);
  }
  opposite[threadIdx.x] = o;
  same[threadIdx.x] = s;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      opposite[threadIdx.x].add(opposite[threadIdx.x + half]);
      same[threadIdx.x].add(same[threadIdx.x + half]);
    }
  }
  if (threadIdx.x == 0) {
    energy[1] = opposite[0].value + opposite[0].lost;
    energy[2] = same[0].value + same[0].lost;
    energy[0] = energy[1] + energy[2];
  }
}

}  // namespace

std::int64_t sums_of_pair(int nvir) {
  const std::int64_t squares = (nvir + kSide - 1) / kSide;
  return squares * (squares + 1) / 2;
}

void sum_pairs(const PairTiles& tiles, const double* occupied, const double* virtuals, double* sums,
               kernels::cuda::Stream stream) {
  const dim3 grid(static_cast<unsigned>(sums_of_pair(tiles.nvir)),
                  static_cast<unsigned>(tiles.pairs));
  launch(sum_pairs_kernel, grid, kThreads, 0, stream, tiles, occupied, virtuals, sums);
}

void add_energies(const double* sums, std::int64_t count, double* energy,
                  kernels::cuda::Stream stream) {
  launch(add_energies_kernel, dim3(1), 1024, 0, stream, sums, count, energy);
}

}  // namespace assay::einsum::cuda
