// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/cuda/library_product.h"

#include <algorithm>

#include "kernels/cuda/libraries.h"
#include "semiring/cuda/factors.h"
#include "semiring/cuda/operands.h"
#include "semiring/cuda/plain_product.h"
#include "semiring/cuda/widen.h"

namespace assay::semiring::cuda {
namespace {

constexpr int kRangeThreads = 256, kLoadsOfRange = 4;
constexpr int kSegment = kRangeThreads * kLoadsOfRange * 8;  // numbers of a block at a time

// A matrix as lines of numbers that lie together.
struct Lines {
  const std::uint16_t* data;
  std::int64_t batches, lines, length, line_stride, batch_stride;
  constexpr std::int64_t segments() const { return batches * lines * ceil_div(length, kSegment); }
};

// What is known of both factors: bits of the largest |x| and of −|x| as 16 bits, which are largest
// for the smallest that is not zero. All words are 0 at first.
struct Range {
  unsigned largest[2], smallest[2], blocks_done;
  int refused;
};

// Whether every product, and every sum of so many, is a normal number or zero.
__device__ bool is_in_range(const volatile Range& r, int terms) {
  const int bits = 32 - __clz(terms);
  const int most = static_cast<int>(r.largest[0] >> 7) + static_cast<int>(r.largest[1] >> 7);
  const bool is_finite = r.largest[0] < 0x7f80 && r.largest[1] < 0x7f80;
  if (!is_finite || most - 252 + bits > 127) return false;
  if (r.smallest[0] == 0 || r.smallest[1] == 0) return true;  // zeros alone
  const int a = static_cast<int>((0x10000 - r.smallest[0]) >> 7);
  const int b = static_cast<int>((0x10000 - r.smallest[1]) >> 7);
  return a > 0 && b > 0 && a + b - 254 >= -100;
}

__global__ void __launch_bounds__(kRangeThreads)
    range_kernel(Lines a, Lines b, int terms, Range* range) {
  const std::int64_t of_a = a.segments(), all = of_a + b.segments();
  unsigned largest[2] = {0, 0}, smallest[2] = {0, 0};  // pairs of 16 bits
  for (std::int64_t s = blockIdx.x; s < all; s += gridDim.x) {
    const int which = s < of_a ? 0 : 1;
    const Lines& m = which == 0 ? a : b;
    const std::int64_t each = ceil_div(m.length, kSegment), at = s - (which == 0 ? 0 : of_a);
    const std::int64_t line = at / each, begin = (at - line * each) * kSegment;
    const std::uint16_t* from =
        m.data + line / m.lines * m.batch_stride + line % m.lines * m.line_stride + begin;
    const auto length = static_cast<int>(std::min<std::int64_t>(kSegment, m.length - begin));
    unsigned most = 0, least = 0;
    const auto look = [&](unsigned pair) {
      const unsigned size = pair & 0x7fff7fffu;
      most = __vmaxu2(most, size);
      least = __vmaxu2(least, __vneg2(size));
    };
    if (length == kSegment && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
      uint4 x[kLoadsOfRange];
#pragma unroll
      for (int i = 0; i < kLoadsOfRange; ++i)
        x[i] = reinterpret_cast<const uint4*>(from)[i * kRangeThreads + threadIdx.x];
#pragma unroll
      for (int i = 0; i < kLoadsOfRange; ++i)
        look(x[i].x), look(x[i].y), look(x[i].z), look(x[i].w);
    } else {
      for (int i = threadIdx.x; i < length; i += kRangeThreads) look(from[i]);
    }
    largest[which] = __vmaxu2(largest[which], most);
    smallest[which] = __vmaxu2(smallest[which], least);
  }
  __shared__ unsigned found[4];
  if (threadIdx.x < 4) found[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned pair = i < 2 ? largest[i % 2] : smallest[i % 2];
    const unsigned most = __reduce_max_sync(~0u, max(pair & 0xffff, pair >> 16));
    if (threadIdx.x % 32 == 0) atomicMax(&found[i], most);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 0; i < 2; ++i) {
    atomicMax(&range->largest[i], found[i]);
    atomicMax(&range->smallest[i], found[2 + i]);
  }
  __threadfence();
  if (atomicAdd(&range->blocks_done, 1u) == gridDim.x - 1)
    range->refused = is_in_range(*range, terms) ? 0 : 1;
}

// How cuBLAS takes a matrix: row after row, or its transpose so.
struct Laid {
  bool turned = false;
  std::int64_t ld = 0;
};
bool find_layout(const Strides& s, std::int64_t rows, std::int64_t columns, Laid& laid) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (s.batch < 0) return false;
  if (s.column == 1 && s.row >= columns && s.row < kMost) {
    laid = {false, s.row};
    return true;
  }
  laid = {true, s.column};
  return s.row == 1 && s.column >= rows && s.column < kMost;
}

Lines lines_of(const void* data, const Strides& s, const Laid& laid, std::int64_t batches,
               std::int64_t rows, std::int64_t columns) {
  if (laid.turned) std::swap(rows, columns);
  Lines lines{static_cast<const std::uint16_t*>(data),
              s.batch == 0 ? 1 : batches,
              rows,
              columns,
              laid.ld,
              s.batch};
  if (laid.ld == columns) lines.lines = 1, lines.length = rows * columns;
  return lines;
}

}  // namespace

bool can_take_library(const Matmul& q) {
  Laid laid;
  return q.library != nullptr && q.algebra == Algebra::kReal && is_half(q.scalar) &&
         q.route == Route::kAuto && find_layout(q.a_strides, q.m, q.k, laid) &&
         find_layout(q.b_strides, q.k, q.n, laid) && find_layout(q.c_strides, q.m, q.n, laid) &&
         !laid.turned && (q.batches == 1 || q.c_strides.batch >= q.m * laid.ld);
}

void library_product(const Matmul& q, int multiprocessors, Arena& arena,
                     unsigned long long* refused, cudaStream_t stream) {
  const bool may_refuse = q.scalar == Scalar::kBF16;
  const std::int64_t tiles = q.batches * ceil_div(q.m, kBlockRows) * ceil_div(q.n, kBlockRows);
  // The range, and behind it flags, all of which stay 0.
  constexpr std::int64_t kWords = sizeof(Range) / sizeof(int);
  int* const words = may_refuse ? arena.take<int>(kWords + tiles) : nullptr;
  auto* const range = reinterpret_cast<Range*>(words);
  Laid a, b, c;
  find_layout(q.a_strides, q.m, q.k, a);
  find_layout(q.b_strides, q.k, q.n, b);
  find_layout(q.c_strides, q.m, q.n, c);
  if (!arena.counts_only()) {
    if (may_refuse) {
      check(cudaMemsetAsync(words, 0, static_cast<std::size_t>(kWords + tiles) * sizeof *words,
                            stream),
            "cudaMemsetAsync");
      const Lines of_a = lines_of(q.a, q.a_strides, a, q.batches, q.m, q.k);
      const Lines of_b = lines_of(q.b, q.b_strides, b, q.batches, q.k, q.n);
      const std::int64_t blocks = std::min<std::int64_t>(of_a.segments() + of_b.segments(),
                                                         8 * std::int64_t{multiprocessors});
      range_kernel<<<static_cast<unsigned>(blocks), kRangeThreads, 0, stream>>>(
          of_a, of_b, static_cast<int>(q.k), range);
      check(cudaGetLastError(), "range_kernel");
    }
    kernels::cuda::Cublas::Halves p;
    p.is_bf16 = q.scalar == Scalar::kBF16;
    p.turn_a = a.turned, p.turn_b = b.turned;
    p.m = static_cast<int>(q.m), p.n = static_cast<int>(q.n);
    p.lda = static_cast<int>(a.ld), p.ldb = static_cast<int>(b.ld), p.ldc = static_cast<int>(c.ld);
    p.step_a = q.a_strides.batch, p.step_b = q.b_strides.batch, p.step_c = q.c_strides.batch;
    p.count = static_cast<int>(q.batches);
    p.c = static_cast<float*>(q.c);
    for (std::int64_t first = 0; first < q.k; first += kLibraryTerms) {
      p.k = static_cast<int>(std::min<std::int64_t>(kLibraryTerms, q.k - first));
      p.a = static_cast<const std::uint16_t*>(q.a) + first * q.a_strides.column;
      p.b = static_cast<const std::uint16_t*>(q.b) + first * q.b_strides.row;
      p.beta = first == 0 ? 0.0f : 1.0f;
      q.library->multiply(p, stream);
    }
  }
  if (!may_refuse) return;
  const int* const any = arena.counts_only() ? nullptr : &range->refused;
  const Matmul wide = widened(q, arena, stream, any);
  if (arena.counts_only()) return;
  PlainProduct<float> plain{q.algebra,
                            static_cast<int>(q.batches),
                            static_cast<int>(q.m),
                            static_cast<int>(q.n),
                            static_cast<int>(q.k),
                            left_of<float>(wide),
                            right_of<float>(wide),
                            result_of<float>(wide),
                            {words + kWords, 0, kBlockRows, kBlockRows, refused, false, any}};
  plain_product(plain, stream);
}

}  // namespace assay::semiring::cuda
