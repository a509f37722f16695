// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>

#include "einsum/cuda/contract_loops.h"
#include "einsum/cuda/multiply_loops.cuh"

namespace assay::einsum::cuda {
namespace {

constexpr int kThreads = 256, kWarp = 32;

template <typename Sum>
__device__ inline Sum from_lane(Sum x, int apart) {
  if constexpr (sizeof(Sum) == 8) {
    return __shfl_down_sync(0xFFFFFFFFu, x, apart);
  } else {
    return {__shfl_down_sync(0xFFFFFFFFu, x.re, apart), __shfl_down_sync(0xFFFFFFFFu, x.im, apart)};
  }
}

template <typename Sum>
__device__ inline Sum sum_of_warp(Sum x) {
  for (int apart = kWarp / 2; apart > 0; apart /= 2) x = x + from_lane(x, apart);
  return x;
}

// The terms first, first + step, … below last of an element's sum, of a·b or of a alone. Several
// are under way at a time: all are asked for before the first is added.
template <bool kWide, bool kOneLoop, bool kPair, typename N>
__device__ inline auto sum_of_terms(const Nest& summed, const N* a, const N* b, std::int64_t first,
                                    std::int64_t step, std::int64_t last) {
  using Sum = typename SumOf<N>::Type;
  constexpr int kAtOnce = sizeof(N) == 16 ? 4 : 8, kSums = 4;
  const auto product = [](N x, N y) { return kPair ? wide(x) * wide(y) : wide(x); };
  Sum sums[kSums] = {};
  // With one loop addresses are stepped, not computed: a step is the same for all.
  const std::int64_t a_step = kOneLoop ? step * summed.a[0] : 0;
  const std::int64_t b_step = kOneLoop ? step * summed.b[0] : 0;
  if constexpr (kOneLoop) {
    a += first * summed.a[0];
    if constexpr (kPair) b += first * summed.b[0];
  }
  std::int64_t s = first;
  for (; s + (kAtOnce - 1) * step < last; s += kAtOnce * step) {
    N x[kAtOnce], y[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if constexpr (kOneLoop) {
        x[u] = *a;
        a += a_step;
        if constexpr (kPair) {
          y[u] = *b;
          b += b_step;
        }
      } else {
        const auto at = offsets<kWide>(summed, s + u * step);
        x[u] = a[at.a];
        if constexpr (kPair) y[u] = b[at.b];
      }
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) sums[u % kSums] = sums[u % kSums] + product(x[u], y[u]);
  }
  for (; s < last; s += step) {
    if constexpr (kOneLoop) {
      sums[0] = sums[0] + product(*a, kPair ? *b : N());
      a += a_step;
      if constexpr (kPair) b += b_step;
    } else {
      const auto at = offsets<kWide>(summed, s);
      sums[0] = sums[0] + product(a[at.a], kPair ? b[at.b] : N());
    }
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Elements of the result and parts of their sums, kLanes threads each; neighbours have neighbouring
// elements of one part. With one part the element is written, else the part's sum.
template <bool kWide, bool kOneLoop, int kLanes, typename N>
__global__ void __launch_bounds__(kThreads)
    contract_kernel(const Nest free, const Nest summed, std::int64_t parts, const N* a, const N* b,
                    N* c, N alpha, N beta, typename SumOf<N>::Type* partial) {
  using Sum = typename SumOf<N>::Type;
  constexpr int kTogether = kThreads / kLanes;  // elements of a block at a time
  __shared__ Sum of_warp[kThreads / kWarp];
  const int lane = threadIdx.x % kLanes;
  const std::int64_t each = (summed.count + parts - 1) / parts;
  const std::int64_t tasks = free.count * parts;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kTogether;
  for (std::int64_t begin = blockIdx.x * static_cast<std::int64_t>(kTogether); begin < tasks;
       begin += step) {
    const std::int64_t task = begin + threadIdx.x / kLanes;
    const bool exists = task < tasks;
    const std::int64_t part = parts == 1 || !exists ? 0 : task / free.count;
    const std::int64_t e = exists ? task - part * free.count : 0;
    const Offsets<kWide> at = offsets<kWide>(free, e);
    const std::int64_t first = part * each;
    const std::int64_t last = first + each < summed.count ? first + each : summed.count;
    Sum sum{};
    if (exists) {
      sum = b == nullptr ? sum_of_terms<kWide, kOneLoop, false>(summed, a + at.a, b, first + lane,
                                                                kLanes, last)
                         : sum_of_terms<kWide, kOneLoop, true>(summed, a + at.a, b + at.b,
                                                               first + lane, kLanes, last);
    }
    if constexpr (kLanes > 1) sum = sum_of_warp(sum);
    if constexpr (kLanes > kWarp) {
      __syncthreads();  // the task before has been added up
      if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = sum;
      __syncthreads();
      if (threadIdx.x == 0) {
        for (int w = 1; w < kThreads / kWarp; ++w) sum = sum + of_warp[w];
      }
    }
    if (!exists || lane != 0) continue;
    if (parts == 1) {
      put(c + at.c, sum, alpha, beta);
    } else {
      partial[task] = sum;
    }
  }
}

template <bool kWide, typename N>
__global__ void __launch_bounds__(kThreads)
    add_parts(const Nest free, std::int64_t parts, const typename SumOf<N>::Type* partial, N* c,
              N alpha, N beta) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
       e < free.count; e += step) {
    auto sum = partial[e];
    for (std::int64_t p = 1; p < parts; ++p) sum = sum + partial[p * free.count + e];
    put(c + offsets<kWide>(free, e).c, sum, alpha, beta);
  }
}

template <bool kWide, typename N>
void contract(const Nest& free, const Nest& summed, int lanes, const N* a, const N* b, N* c,
              N alpha, N beta, Workspace& workspace, kernels::cuda::Stream stream) {
  // As many parts as fill the device, each long enough to be worth it.
  constexpr std::int64_t kLeastTerms = 16;
  const std::int64_t full = 2048 * static_cast<std::int64_t>(multiprocessors());  // threads
  const std::int64_t wanted = full / std::max<std::int64_t>(1, free.count * lanes);
  const std::int64_t parts =
      std::max<std::int64_t>(1, std::min(wanted, summed.count / (kLeastTerms * lanes)));
  using Sum = typename SumOf<N>::Type;
  Workspace::Buffer buffer;
  if (parts > 1) buffer = workspace.take<Sum>(static_cast<double>(free.count * parts));
  auto* const partial = buffer.template data<Sum>();
  const bool one_loop = summed.loops == 1;
  const auto run = [&](auto* kernel) {
    launch(kernel, blocks_for(free.count * parts, kThreads / lanes), kThreads, 0, stream, free,
           summed, parts, a, b, c, alpha, beta, partial);
  };
  if (lanes == 1) {
    run(one_loop ? contract_kernel<kWide, true, 1, N> : contract_kernel<kWide, false, 1, N>);
  } else if (lanes == kWarp) {
    run(one_loop ? contract_kernel<kWide, true, kWarp, N>
                 : contract_kernel<kWide, false, kWarp, N>);
  } else {
    run(one_loop ? contract_kernel<kWide, true, kThreads, N>
                 : contract_kernel<kWide, false, kThreads, N>);
  }
  if (parts > 1) {
    launch(add_parts<kWide, N>, blocks_for(free.count, kThreads), kThreads, 0, stream, free, parts,
           partial, c, alpha, beta);
  }
}

}  // namespace

template <typename T>
void contract_loops(std::span<const Loop> loops, int lanes, const T* a, const T* b, T* c, T alpha,
                    T beta, Workspace& workspace, kernels::cuda::Stream stream) {
  checked_loops(loops.size());
  Nest free, summed;
  for (const auto& loop : loops) (loop.c != 0 ? free : summed).add(loop);
  using N = DeviceNumber<T>;
  const auto* const from_a = reinterpret_cast<const N*>(a);
  const auto* const from_b = reinterpret_cast<const N*>(b);
  auto* const to = reinterpret_cast<N*>(c);
  if (summed.loops == 0) {
    multiply_loops<N>(free, from_a, from_b, to, device_number(alpha), device_number(beta), stream);
    return;
  }
  auto* const run = is_wide(free, summed) ? contract<true, N> : contract<false, N>;
  run(free, summed, lanes, from_a, from_b, to, device_number(alpha), device_number(beta), workspace,
      stream);
}

#define ASSAY_INSTANTIATE(T)                                                                \
  template void contract_loops<T>(std::span<const Loop>, int, const T*, const T*, T*, T, T, \
                                  Workspace&, kernels::cuda::Stream);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(std::complex<float>)
ASSAY_INSTANTIATE(std::complex<double>)
#undef ASSAY_INSTANTIATE

}  // namespace assay::einsum::cuda
