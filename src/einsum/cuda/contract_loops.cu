// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "einsum/cuda/contract_loops.h"
#include "einsum/cuda/launch.h"
#include "einsum/cuda/numbers.cuh"

namespace assay::einsum::cuda {
namespace {

constexpr int kThreads = 256, kWarp = 32;

// Loops of one kind, the fastest last. Numbers below 2³¹ are divided by multiplication: of x / d,
// with 2^s ≥ d > 2^(s−1) and m = ⌊2³²(2^s − d)/d⌋ + 1, the quotient is (⌊mx / 2³²⌋ + x) / 2^s.
struct Nest {
  int loops = 0;
  std::int64_t count = 1;
  std::int64_t extent[kMostLoops], a[kMostLoops], b[kMostLoops], c[kMostLoops];
  // The same in 32 bits, for all that fits: half the instructions.
  std::int32_t short_a[kMostLoops], short_b[kMostLoops], short_c[kMostLoops];
  std::int64_t reach = 0;  // no tensor's offset is beyond
  std::uint32_t factor[kMostLoops];
  std::uint8_t shift[kMostLoops];

  void add(const Loop& loop) {
    extent[loops] = loop.extent;
    a[loops] = loop.a;
    b[loops] = loop.b;
    c[loops] = loop.c;
    count *= loop.extent;
    short_a[loops] = static_cast<std::int32_t>(loop.a);
    short_b[loops] = static_cast<std::int32_t>(loop.b);
    short_c[loops] = static_cast<std::int32_t>(loop.c);
    const std::int64_t widest = std::max({std::abs(loop.a), std::abs(loop.b), std::abs(loop.c)});
    reach += (loop.extent - 1) * widest;
    const auto d = static_cast<std::uint64_t>(loop.extent);
    int s = 0;
    while (s < 32 && (std::uint64_t{1} << s) < d) ++s;
    shift[loops] = static_cast<std::uint8_t>(s);
    factor[loops] = s < 32 ? static_cast<std::uint32_t>(
                                 ((std::uint64_t{1} << 32) * ((std::uint64_t{1} << s) - d)) / d + 1)
                           : 0;
    ++loops;
  }
};

template <bool kWide>
struct Offsets {
  std::conditional_t<kWide, std::int64_t, std::int32_t> a = 0, b = 0, c = 0;
};

// Where combination number n of the loops lies.
template <bool kWide>
__device__ inline Offsets<kWide> offsets(const Nest& nest, std::int64_t n) {
  Offsets<kWide> at;
  if constexpr (kWide) {
    for (int l = nest.loops - 1; l >= 0; --l) {
      const std::int64_t next = n / nest.extent[l], x = n - next * nest.extent[l];
      at.a += x * nest.a[l];
      at.b += x * nest.b[l];
      at.c += x * nest.c[l];
      n = next;
    }
  } else {
    auto rest = static_cast<std::uint32_t>(n);
    for (int l = nest.loops - 1; l >= 0; --l) {
      const std::uint32_t next =
          l == 0 ? 0
                 : static_cast<std::uint32_t>(
                       (static_cast<std::uint64_t>(__umulhi(nest.factor[l], rest)) + rest) >>
                       nest.shift[l]);
      const auto x =
          static_cast<std::int32_t>(rest - next * static_cast<std::uint32_t>(nest.extent[l]));
      at.a += x * nest.short_a[l];
      at.b += x * nest.short_b[l];
      at.c += x * nest.short_c[l];
      rest = next;
    }
  }
  return at;
}

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

template <typename N, typename Sum>
__device__ inline void put(N* at, Sum sum, N alpha, N beta) {
  Sum value = wide(alpha) * sum;
  if (!is_zero(beta)) value = value + wide(beta) * wide(*at);
  *at = narrow<N>(value);
}

// The terms first, first + step, … below last of an element's sum, a few of them under way at a
// time.
template <bool kWide, bool kOneLoop, typename N>
__device__ inline auto terms(const Nest& summed, const N* a, const N* b, std::int64_t first,
                             std::int64_t step, std::int64_t last) {
  using Sum = typename SumOf<N>::Type;
  constexpr int kAtOnce = 4;
  const auto term = [&](std::int64_t s) {
    Offsets<kWide> at;
    if constexpr (kOneLoop && kWide) {
      at = {s * summed.a[0], s * summed.b[0], 0};
    } else if constexpr (kOneLoop) {
      const auto n = static_cast<std::int32_t>(s);
      at = {n * summed.short_a[0], n * summed.short_b[0], 0};
    } else {
      at = offsets<kWide>(summed, s);
    }
    Sum value = wide(a[at.a]);
    if (b != nullptr) value = value * wide(b[at.b]);
    return value;
  };
  Sum sums[kAtOnce] = {};
  std::int64_t s = first;
  for (; s + (kAtOnce - 1) * step < last; s += kAtOnce * step) {
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) sums[u] = sums[u] + term(s + u * step);
  }
  for (; s < last; s += step) sums[0] = sums[0] + term(s);
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
      sum = terms<kWide, kOneLoop>(summed, a + at.a, b == nullptr ? nullptr : b + at.b,
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

// Without a sum: a few elements for each thread, under way together.
template <bool kWide, typename N>
__global__ void __launch_bounds__(kThreads)
    multiply_kernel(const Nest free, const N* a, const N* b, N* c, N alpha, N beta) {
  constexpr int kAtOnce = 4;
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

template <bool kWide, typename N>
void contract(const Nest& free, const Nest& summed, int lanes, const N* a, const N* b, N* c,
              N alpha, N beta, Workspace& workspace, kernels::cuda::Stream stream) {
  if (summed.loops == 0) {
    launch(multiply_kernel<kWide, N>, blocks_for(free.count, 4 * kThreads), kThreads, 0, stream,
           free, a, b, c, alpha, beta);
    return;
  }
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
  constexpr std::int64_t kNarrow = std::int64_t{1} << 31;
  const bool is_wide = free.count >= kNarrow || summed.count >= kNarrow ||
                       free.reach + summed.reach >= kNarrow;
  auto* const run = is_wide ? contract<true, N> : contract<false, N>;
  run(free, summed, lanes, reinterpret_cast<const N*>(a), reinterpret_cast<const N*>(b),
      reinterpret_cast<N*>(c), device_number(alpha), device_number(beta), workspace, stream);
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
