// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/cuda/multiply_loops.cuh"

namespace assay::einsum::cuda {
namespace {

constexpr int kThreads = 256, kAtOnce = 4;  // elements, or rows of them, of a thread

template <bool kWide, typename N>
__global__ void __launch_bounds__(kThreads)
    multiply_kernel(const Nest free, const N* a, const N* b, N* c, N alpha, N beta) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads * kAtOnce;
  for (std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads * kAtOnce) + threadIdx.x;
       e < free.count; e += step) {
    typename SumOf<N>::Type product[kAtOnce];
    decltype(Offsets<kWide>::c) to[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if (e + u * kThreads >= free.count) break;
      const Offsets<kWide> at = offsets<kWide>(free, e + u * kThreads);
      to[u] = at.c;
      product[u] = wide(a[at.a]);
      if (b != nullptr) product[u] = product[u] * wide(b[at.b]);
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if (e + u * kThreads < free.count) put(c + to[u], product[u], alpha, beta);
    }
  }
}

// Sixteen bytes of numbers that lie together.
template <typename N>
struct alignas(16) RowOf {
  static constexpr int kNumbers = 16 / sizeof(N);
  N x[kNumbers];
};

// As many numbers as a row has: those at `from`, or the one there for all.
template <typename N>
__device__ inline RowOf<N> row_at(const N* from, bool moves) {
  if (moves) return *reinterpret_cast<const RowOf<N>*>(from);
  RowOf<N> row;
  const N x = *from;
#pragma unroll
  for (N& to : row.x) to = x;
  return row;
}

// One rounding, as of the product in f64: that of two f32 is exact there.
__device__ inline float rounded_product(float x, float y) { return x * y; }
__device__ inline double rounded_product(double x, double y) { return x * y; }
template <typename R>
__device__ inline Pair<R> rounded_product(Pair<R> x, Pair<R> y) {
  return narrow<Pair<R>>(wide(x) * wide(y));
}

// c = a·b, rows of sixteen bytes of c at a time, of which the loops are.
template <typename N>
__global__ void __launch_bounds__(kThreads)
    multiply_rows(const Nest rows, bool a_moves, bool b_moves, const N* a, const N* b, N* c) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads * kAtOnce;
  for (std::int64_t r = blockIdx.x * static_cast<std::int64_t>(kThreads * kAtOnce) + threadIdx.x;
       r < rows.count; r += step) {
    RowOf<N> x[kAtOnce], y[kAtOnce];
    std::int32_t to[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      // Beyond the end: the last one once more, so that nothing stands between the loads.
      const std::int64_t row = min(r + u * kThreads, rows.count - 1);
      const Offsets<false> at = offsets<false>(rows, row);
      to[u] = at.c;
      x[u] = row_at(a + at.a, a_moves);
      y[u] = row_at(b + at.b, b_moves);
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if (r + u * kThreads >= rows.count) break;
      RowOf<N> product;
#pragma unroll
      for (int i = 0; i < RowOf<N>::kNumbers; ++i) {
        product.x[i] = rounded_product(x[u].x[i], y[u].x[i]);
      }
      *reinterpret_cast<RowOf<N>*>(c + to[u]) = product;
    }
  }
}

bool begins_row(const void* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; }

// The loops over rows of a product whose fastest loop goes along c, and along a and b or not at
// all; false where a row would not begin on its boundary.
template <typename N>
bool rows_of(const Nest& free, const N* a, const N* b, const N* c, Nest& rows) {
  constexpr std::int64_t kNumbers = RowOf<N>::kNumbers;
  if (kNumbers < 2 || free.loops == 0 || !begins_row(c)) return false;
  const int last = free.loops - 1;
  const bool a_moves = free.a[last] != 0, b_moves = free.b[last] != 0;
  if (free.c[last] != 1 || free.extent[last] % kNumbers != 0) return false;
  if ((a_moves && (free.a[last] != 1 || !begins_row(a))) ||
      (b_moves && (free.b[last] != 1 || !begins_row(b)))) {
    return false;
  }
  for (int l = 0; l < last; ++l) {
    if (free.c[l] % kNumbers != 0 || (a_moves && free.a[l] % kNumbers != 0) ||
        (b_moves && free.b[l] % kNumbers != 0)) {
      return false;
    }
    rows.add({free.extent[l], free.a[l], free.b[l], free.c[l]});
  }
  rows.add(
      {free.extent[last] / kNumbers, kNumbers * free.a[last], kNumbers * free.b[last], kNumbers});
  return true;
}

}  // namespace

template <typename N>
void multiply_loops(const Nest& free, const N* a, const N* b, N* c, N alpha, N beta,
                    kernels::cuda::Stream stream) {
  const bool needs_wide = is_wide(free, Nest());
  Nest rows;
  if (!needs_wide && b != nullptr && is_one(alpha) && is_zero(beta) &&
      rows_of(free, a, b, c, rows)) {
    launch(multiply_rows<N>, blocks_for(rows.count, kAtOnce * kThreads), kThreads, 0, stream, rows,
           free.a[free.loops - 1] != 0, free.b[free.loops - 1] != 0, a, b, c);
    return;
  }
  launch(needs_wide ? multiply_kernel<true, N> : multiply_kernel<false, N>,
         blocks_for(free.count, kAtOnce * kThreads), kThreads, 0, stream, free, a, b, c, alpha,
         beta);
}

#define ASSAY_INSTANTIATE(N) \
  template void multiply_loops<N>(const Nest&, const N*, const N*, N*, N, N, kernels::cuda::Stream);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(Pair<float>)
ASSAY_INSTANTIATE(Pair<double>)
#undef ASSAY_INSTANTIATE

}  // namespace assay::einsum::cuda
