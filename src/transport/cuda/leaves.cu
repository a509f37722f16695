// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/cuda/leaves.cuh"

#include "transport/cuda/launch.h"
#include "transport/cuda/mma.cuh"

namespace assay::transport::cuda {
namespace {

// What a pivot is judged by: the upper bits of its size, then a low row. NaN is one only where
// there is nothing else, and what is no candidate has 0.
__device__ unsigned judged(double x, int row, bool is_candidate) {
  constexpr unsigned kRowBits = kLeaf - 1, kInfinity = 0x7ff00000;
  const unsigned size = static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffu;
  const bool is_nan = x != x;
  const unsigned upper = is_nan ? 0 : min(size, kInfinity) + kLeaf;
  return is_candidate ? (upper & ~kRowBits) | (kRowBits - static_cast<unsigned>(row)) : 0;
}

// x[at] by halves: an index that is known late would put the numbers into memory.
template <int kCount>
__device__ double element(const double (&x)[kCount], int at) {
  if constexpr (kCount == 1) {
    return x[0];
  } else {
    double half[kCount / 2];
#pragma unroll
    for (int s = 0; s < kCount / 2; ++s) half[s] = at % 2 != 0 ? x[2 * s + 1] : x[2 * s];
    return element(half, at / 2);
  }
}

// The block A_JJ of each matrix inverted, width×width with gaps to kLeaf. Four lanes have a column,
// sixteen rows each; rows stay where they are and remember what they are the pivot of. The warp of
// the next column searches its pivot while the others still subtract, so that a step has one
// barrier: what it tells them is kept twice.
__global__ void __launch_bounds__(256) invert_leaves(Matrices a, int j, int width, double* leaves) {
  constexpr int kOwn = kLeaf / 4;
  struct Told {
    double factor[kLeaf];
    double inverse;  // of the pivot
    int row;
  };
  __shared__ __align__(16) Told told[2];
  __shared__ int row_of[kLeaf], pivot_of[kLeaf];  // of a column, of a row
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, i = static_cast<int>(blockIdx.x);
  const int c = t / 32 * 8 + lane / 4, first = lane % 4 * kOwn;
  const double* from =
      a.data + i * a.step + j + static_cast<std::int64_t>(j + min(c, width - 1)) * a.ld;
  double x[kOwn];
  unsigned taken = 0;  // bits of own rows
#pragma unroll
  for (int s = 0; s < kOwn; ++s) {
    const bool exists = first + s < width;
    x[s] = exists ? from[first + s] : 0.0;
    if (!exists) taken |= 1u << s;
  }
  const auto tell = [&](int p) {  // by the warp that has column p
    if (p >= width || p / 8 != t / 32) return;
    Told& to = told[p % 2];
    unsigned best[kOwn];
#pragma unroll
    for (int s = 0; s < kOwn; ++s) best[s] = judged(x[s], first + s, (taken >> s & 1) == 0);
#pragma unroll
    for (int apart = kOwn / 2; apart > 0; apart /= 2) {
#pragma unroll
      for (int s = 0; s < apart; ++s) best[s] = max(best[s], best[s + apart]);
    }
#pragma unroll
    for (int step = 1; step < 4; step *= 2) {
      best[0] = max(best[0], __shfl_xor_sync(~0u, best[0], step));
    }
    const int row = kLeaf - 1 - static_cast<int>(best[0] % kLeaf);
    if (c != p) return;
#pragma unroll
    for (int s = 0; s < kOwn; ++s) to.factor[first + s] = x[s];
    if (lane % 4 == row / kOwn) {
      to.factor[row] = -1.0;  // 0 − (−1)·pivot is what stands there next
      to.inverse = 1.0 / element(x, row % kOwn);
      to.row = row;
      row_of[p] = row;
      pivot_of[row] = p;
    }
  };
  tell(0);
  __syncthreads();
  for (int p = 0; p < width; ++p) {
    const Told& now = told[p % 2];
    const int row = now.row;
    const double own = __shfl_sync(~0u, element(x, row % kOwn), (lane & ~3) + row / kOwn);
    const double pivot = (c == p ? 1.0 : own) * now.inverse;
    const unsigned row_here = row / kOwn == lane % 4 ? 1u << row % kOwn : 0;  // as a bit
    taken |= row_here;
    const unsigned gone = c == p ? ~0u : row_here;
#pragma unroll
    for (int s = 0; s < kOwn; ++s) {
      x[s] = ((gone >> s & 1) != 0 ? 0.0 : x[s]) - now.factor[first + s] * pivot;
    }
    tell(p + 1);
    __syncthreads();
  }
  if (c >= width) return;
  double* out = leaves + (static_cast<std::int64_t>(i) * kLeaf + row_of[c]) * kLeaf;
#pragma unroll
  for (int s = 0; s < kOwn; ++s) {
    if (first + s < width) out[pivot_of[first + s]] = x[s];
  }
}

constexpr int kRowsOfWarp = 16, kMultiplyWarps = 4;

// Columns J: −A_IJ A_JJ⁻¹ above and below, A_JJ⁻¹ in the rows J. Sixteen rows for each warp, which
// reads them all before it writes.
__global__ void __launch_bounds__(32 * kMultiplyWarps)
    multiply_leaves(Matrices a, int j, int width, const double* leaves) {
  constexpr int kPitch = kLeaf + 4;  // no two of the sixteen numbers of half a warp in a bank
  __shared__ double leaf[kLeaf * kPitch];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, i = static_cast<int>(blockIdx.y);
  const double* from = leaves + static_cast<std::int64_t>(i) * kLeaf * kLeaf;
  for (int at = t; at < kLeaf * kLeaf; at += 32 * kMultiplyWarps) {
    const int r = at % kLeaf, c = at / kLeaf;
    leaf[c * kPitch + r] = r < width && c < width ? from[at] : 0.0;
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
      multiply_add(sums[n], x, y, leaf[(8 * n + lane / 4) * kPitch + c]);
    }
  }
  const auto put = [&](int r, int c, double sum) {
    if (r >= a.n || c >= width) return;
    const bool is_inside = r >= j && r < j + width;
    columns[r + static_cast<std::int64_t>(c) * a.ld] = is_inside ? leaf[c * kPitch + r - j] : -sum;
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
  launch(invert_leaves, dim3(blocks(a.count, 1)), 256, 0, stream, a, j, width, leaves);
  launch(multiply_leaves, dim3(blocks(a.n, kRowsOfWarp * kMultiplyWarps), blocks(a.count, 1)),
         32 * kMultiplyWarps, 0, stream, a, j, width, static_cast<const double*>(leaves));
}

}  // namespace assay::transport::cuda
