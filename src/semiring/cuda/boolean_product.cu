// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/cuda/boolean_product.h"

namespace assay::semiring::cuda {
namespace {

constexpr int kTile = 64, kWords = 16;

// A warp makes a word: [batch][row][word].
__global__ void bits_kernel(Factor<unsigned char> f, int batches, int words, unsigned* out) {
  const std::int64_t item = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (item >= static_cast<std::int64_t>(batches) * f.rows * words) return;
  const int word = static_cast<int>(item % words);
  const std::int64_t row = item / words % f.rows, batch = item / words / f.rows;
  const std::int64_t term = 32LL * word + lane;
  const bool is_set =
      term < f.terms &&
      f.data[batch * f.batch_stride + row * f.row_stride + term * f.term_stride] != 0;
  const unsigned bits = __ballot_sync(~0u, is_set);
  if (lane == 0) out[item] = bits;
}

__global__ void __launch_bounds__(256)
    boolean_kernel(const unsigned* a, std::int64_t a_batch, const unsigned* b, std::int64_t b_batch,
                   int m, int n, int words, Result<unsigned char> c, int tiles_n) {
  __shared__ unsigned left[kWords][kTile + 1], right[kWords][kTile + 1];
  const int row0 = blockIdx.x / tiles_n * kTile, column0 = blockIdx.x % tiles_n * kTile;
  a += blockIdx.y * a_batch;
  b += blockIdx.y * b_batch;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  unsigned any[4][4] = {};
  for (int begin = 0; begin < words; begin += kWords) {
    __syncthreads();
    for (int at = threadIdx.x; at < kTile * kWords; at += 256) {
      const int r = at / kWords, w = at % kWords;
      const bool is_word = begin + w < words;
      left[w][r] =
          is_word && row0 + r < m ? a[static_cast<std::int64_t>(row0 + r) * words + begin + w] : 0;
      right[w][r] = is_word && column0 + r < n
                        ? b[static_cast<std::int64_t>(column0 + r) * words + begin + w]
                        : 0;
    }
    __syncthreads();
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) any[i][j] |= left[w][ty * 4 + i] & right[w][tx + 16 * j];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + ty * 4 + i, column = column0 + tx + 16 * j;
      if (row < m && column < n)
        c.data[blockIdx.y * c.batch_stride + row * c.row_stride + column * c.column_stride] =
            any[i][j] != 0;
    }
  }
}

}  // namespace

void boolean_product(const BooleanProduct& p, Arena& arena, cudaStream_t stream) {
  const int words = static_cast<int>(ceil_div(p.k, 32));
  const int a_batches = p.a.batch_stride == 0 ? 1 : p.batches;
  const int b_batches = p.b.batch_stride == 0 ? 1 : p.batches;
  const std::int64_t a_words = static_cast<std::int64_t>(p.m) * words;
  const std::int64_t b_words = static_cast<std::int64_t>(p.n) * words;
  unsigned* a = arena.take<unsigned>(a_batches * a_words);
  unsigned* b = arena.take<unsigned>(b_batches * b_words);
  if (arena.counts_only()) return;
  bits_kernel<<<static_cast<unsigned>(ceil_div(a_batches * a_words, 8)), 256, 0, stream>>>(
      p.a, a_batches, words, a);
  bits_kernel<<<static_cast<unsigned>(ceil_div(b_batches * b_words, 8)), 256, 0, stream>>>(
      p.b, b_batches, words, b);
  check(cudaGetLastError(), "bits_kernel");
  const int tiles_n = static_cast<int>(ceil_div(p.n, kTile));
  const dim3 grid(static_cast<unsigned>(ceil_div(p.m, kTile) * tiles_n),
                  static_cast<unsigned>(p.batches));
  boolean_kernel<<<grid, 256, 0, stream>>>(a, a_batches == 1 ? 0 : a_words, b,
                                           b_batches == 1 ? 0 : b_words, p.m, p.n, words, p.c,
                                           tiles_n);
  check(cudaGetLastError(), "boolean_kernel");
}

}  // namespace assay::semiring::cuda
