// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/cuda/leaves.cuh"

#include "transport/cuda/launch.h"
#include "transport/cuda/mma.cuh"

namespace assay::transport::cuda {
namespace {

constexpr int kHalf = 32;  // columns that one warp eliminates, with pivots in as many rows
constexpr int kLeafWarps = 4;
constexpr int kLeafPitch = kLeaf + 4;  // no two of the sixteen numbers of half a warp in a bank

// What a pivot is judged by: the upper bits of its size, then a low row. NaN is one only where
// there is nothing else, and what is no candidate has 0.
__device__ unsigned judged(double x, int row, bool is_candidate) {
  constexpr unsigned kRowBits = kHalf - 1, kInfinity = 0x7ff00000;
  const unsigned size = static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffu;
  const bool is_nan = x != x;
  const unsigned upper = is_nan ? 0 : min(size, kInfinity) + kHalf;
  return is_candidate ? (upper & ~kRowBits) | (kRowBits - static_cast<unsigned>(row)) : 0;
}

// Without a branch, so that other work goes on meanwhile. What has no inverse in the range gets NaN
// or zero.
__device__ double inverse_of(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));  // 23 bits
  const double error = fma(-x, y, 1.0);
  return fma(y, fma(error, error, error), y);
}

// One warp inverts a block of kHalf² numbers in place, column after column with kLeafPitch between
// them. A lane has a row in registers, which stays where it is and remembers what it is the pivot
// of. Each step takes the first column and moves the others up, so that no index is known late; the
// pivot's row is told to the others through `told`, and divided by its pivot at the end: steps are
// linear in a row.
__device__ void invert_half(double* block, double (&told)[kHalf + 2]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  double x[kHalf];
#pragma unroll
  for (int c = 0; c < kHalf; ++c) x[c] = block[c * kLeafPitch + lane];
  bool is_taken = false;
  int pivot_of_row = 0, row_of_column = 0;
  double divided = 0;
#pragma unroll 1
  for (int p = 0; p < kHalf; ++p) {
    const unsigned best = __reduce_max_sync(~0u, judged(x[0], lane, !is_taken));
    const int row = kHalf - 1 - static_cast<int>(best % kHalf);
    const double inverse = inverse_of(x[0]);
    const bool is_pivot = lane == row;
    if (lane == p) row_of_column = row;
    if (is_pivot) {
      told[0] = inverse;
#pragma unroll
      for (int c = 1; c < kHalf; ++c) told[c + 1] = x[c];
      is_taken = true;
      pivot_of_row = p;
      divided = inverse;
    }
    __syncwarp();
    const double factor = is_pivot ? 0.0 : x[0] * told[0];
#pragma unroll
    for (int c = 1; c < kHalf; ++c) x[c - 1] = fma(-factor, told[c + 1], x[c]);
    x[kHalf - 1] = is_pivot ? 1.0 : -factor;
    __syncwarp();  // all have read
  }
#pragma unroll
  for (int c = 0; c < kHalf; ++c) {
    block[__shfl_sync(~0u, row_of_column, c) * kLeafPitch + pivot_of_row] = divided * x[c];
  }
}

// sums = A B, 16×8 numbers of it by a warp: A from `a`, B from `b`, kHalf terms.
__device__ Sums product_of(const double* a, const double* b) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const double* const left = a + lane % 4 * kLeafPitch + lane / 4;
  const double* const right = b + lane / 4 * kLeafPitch + lane % 4;
  Sums sums;
#pragma unroll
  for (int k = 0; k < kHalf; k += 4) {
    multiply_add(sums, left[k * kLeafPitch], left[k * kLeafPitch + 8], right[k]);
  }
  return sums;
}

// The block A_JJ of each matrix inverted, width×width with gaps to kLeaf: Gauss–Jordan of two
// halves, each told to the other.
__global__ void __launch_bounds__(32 * kLeafWarps)
    invert_leaves(Matrices a, int j, int width, double* leaves) {
  __shared__ __align__(16) double leaf[kLeaf * kLeafPitch];
  __shared__ __align__(16) double told[kHalf + 2];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const int i = static_cast<int>(blockIdx.x);
  const double* const from = a.data + i * a.step + j + static_cast<std::int64_t>(j) * a.ld;
#pragma unroll
  for (int n = 0; n < kLeaf * kLeaf / (32 * kLeafWarps); ++n) {
    const int at = n * 32 * kLeafWarps + t, r = at % kLeaf, c = at / kLeaf;
    const double beyond = r == c ? 1.0 : 0.0;
    leaf[c * kLeafPitch + r] =
        r < width && c < width ? from[r + static_cast<std::int64_t>(c) * a.ld] : beyond;
  }
  __syncthreads();
  for (int own = 0; own < width; own += kHalf) {
    const int other = kHalf - own;
    double* const inverse = leaf + own * kLeafPitch + own;       // J, J
    double* const below = leaf + own * kLeafPitch + other;       // I, J
    double* const beside = leaf + other * kLeafPitch + own;      // J, I
    double* const opposite = leaf + other * kLeafPitch + other;  // I, I
    if (warp == 0) invert_half(inverse, told);
    __syncthreads();
    // Each warp has eight columns of four tiles, two of them below each other.
    const int column = 8 * warp, r = lane / 4, c = column + 2 * (lane % 4);
    const auto put = [&](double* block, int row, const Sums& sums, bool adding, double sign) {
      double* const to = block + c * kLeafPitch + row + r;
      const auto one = [&](double& x, double sum) { x = (adding ? x : 0.0) + sign * sum; };
      one(to[0], sums.top.x), one(to[kLeafPitch], sums.top.y);
      one(to[8], sums.bottom.x), one(to[kLeafPitch + 8], sums.bottom.y);
    };
    const double* const of_column = inverse + column * kLeafPitch;
    const Sums down[2] = {product_of(below, of_column), product_of(below + 16, of_column)};
    __syncthreads();
    put(below, 0, down[0], false, -1), put(below, 16, down[1], false, -1);
    __syncthreads();
    const double* const rows = beside + column * kLeafPitch;
    const Sums across[2] = {product_of(inverse, rows), product_of(inverse + 16, rows)};
    const Sums rest[2] = {product_of(below, rows), product_of(below + 16, rows)};
    __syncwarp();  // a warp writes the columns that it alone has read
    put(beside, 0, across[0], false, 1), put(beside, 16, across[1], false, 1);
    put(opposite, 0, rest[0], true, 1), put(opposite, 16, rest[1], true, 1);
    __syncthreads();
  }
  double* const out = leaves + static_cast<std::int64_t>(i) * kLeaf * kLeaf;
  for (int at = t; at < kLeaf * kLeaf; at += 32 * kLeafWarps) {
    out[at] = leaf[at / kLeaf * kLeafPitch + at % kLeaf];
  }
}

constexpr int kRowsOfWarp = 16, kMultiplyWarps = 4;

// Columns J: −A_IJ A_JJ⁻¹ above and below, A_JJ⁻¹ in the rows J. Sixteen rows for each warp, which
// reads them all before it writes.
__global__ void __launch_bounds__(32 * kMultiplyWarps)
    multiply_leaves(Matrices a, int j, int width, const double* leaves) {
  __shared__ double leaf[kLeaf * kLeafPitch];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, i = static_cast<int>(blockIdx.y);
  const double* from = leaves + static_cast<std::int64_t>(i) * kLeaf * kLeaf;
  for (int at = t; at < kLeaf * kLeaf; at += 32 * kMultiplyWarps) {
    const int r = at % kLeaf, c = at / kLeaf;
    leaf[c * kLeafPitch + r] = r < width && c < width ? from[at] : 0.0;
  }
  __syncthreads();
  const int first =
      (static_cast<int>(blockIdx.x) * kMultiplyWarps + t / 32) * kRowsOfWarp + lane / 4;
  double* const columns = a.data + i * a.step + static_cast<std::int64_t>(j) * a.ld;
  const double* const top = columns + min(first, a.n - 1);
  const double* const bottom = columns + min(first + 8, a.n - 1);
  Sums sums[kLeaf / 8];
#pragma unroll 4
  for (int k = 0; k < kLeaf; k += 4) {
    const int c = k + lane % 4;
    const std::int64_t at = static_cast<std::int64_t>(min(c, width - 1)) * a.ld;
    const double x = c < width ? top[at] : 0.0, y = c < width ? bottom[at] : 0.0;
#pragma unroll
    for (int n = 0; n < kLeaf / 8; ++n) {
      multiply_add(sums[n], x, y, leaf[(8 * n + lane / 4) * kLeafPitch + c]);
    }
  }
  const auto put = [&](int r, int c, double sum) {
    if (r >= a.n || c >= width) return;
    const bool is_inside = r >= j && r < j + width;
    columns[r + static_cast<std::int64_t>(c) * a.ld] =
        is_inside ? leaf[c * kLeafPitch + r - j] : -sum;
  };
#pragma unroll
  for (int n = 0; n < kLeaf / 8; ++n) {
    const int c = 8 * n + 2 * (lane % 4);
    put(first, c, sums[n].top.x);
    put(first, c + 1, sums[n].top.y);
    put(first + 8, c, sums[n].bottom.x);
    put(first + 8, c + 1, sums[n].bottom.y);
  }
}

}  // namespace

void eliminate_leaves(const Matrices& a, int j, int width, double* leaves,
                      kernels::cuda::Stream stream) {
  launch(invert_leaves, dim3(blocks(a.count, 1)), 32 * kLeafWarps, 0, stream, a, j, width, leaves);
  launch(multiply_leaves, dim3(blocks(a.n, kRowsOfWarp * kMultiplyWarps), blocks(a.count, 1)),
         32 * kMultiplyWarps, 0, stream, a, j, width, static_cast<const double*>(leaves));
}

}  // namespace assay::transport::cuda
