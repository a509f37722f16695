// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/peaks.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/cuda/device.h"
#include "kernels/cuda/square_products.h"

namespace assay::kernels::cuda {
namespace {

constexpr int kThreads = 256, kRounds = 5, kChains = 8;
constexpr int kSteps = 2048;  // of a chain in one launch
constexpr std::size_t kLarge = std::size_t{2} << 30, kCached = std::size_t{24} << 20;

// Numbers that the compiler cannot know and that no chain overflows with.
__device__ inline float start_of(int chain) {
  return 1e-3f * static_cast<float>((threadIdx.x + 7 * blockIdx.x) % 1000 + chain);
}

__global__ void fill_kernel(float* to, std::size_t count) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * kThreads;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(kThreads) + threadIdx.x; i < count;
       i += step) {
    std::uint32_t x = static_cast<std::uint32_t>(i) * 2654435761u;
    x ^= x >> 15;
    to[i] = static_cast<float>(x * 2246822519u >> 8) * 0x1p-23f - 1.0f;
  }
}

__global__ void __launch_bounds__(kThreads)
    read_kernel(const float4* from, std::size_t count, int times, float* out) {
  constexpr int kAtOnce = 8;
  float4 sum{0, 0, 0, 0};
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * kThreads * kAtOnce;
  for (int t = 0; t < times; ++t) {
    for (std::size_t i = blockIdx.x * static_cast<std::size_t>(kThreads * kAtOnce) + threadIdx.x;
         i + (kAtOnce - 1) * kThreads < count; i += step) {
      float4 taken[kAtOnce];
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) taken[u] = __ldcg(from + i + u * kThreads);
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        sum.x += taken[u].x;
        sum.y += taken[u].y;
        sum.z += taken[u].z;
        sum.w += taken[u].w;
      }
    }
  }
  if (sum.x + sum.y + sum.z + sum.w == 1.2345e30f) *out = sum.x;  // never, but nobody knows
}

__global__ void __launch_bounds__(kThreads)
    triad_kernel(const float4* b, const float4* c, float4* a, std::size_t count) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * kThreads;
#pragma unroll 4
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(kThreads) + threadIdx.x; i < count;
       i += step) {
    const float4 x = b[i], y = c[i];
    a[i] = {x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w};
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads) fma_kernel(T factor, T* out) {
  T x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = start_of(c);
  for (int s = 0; s < kSteps / 16; ++s) {
#pragma unroll
    for (int u = 0; u < 16; ++u) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) x[c] = x[c] * factor + factor;
    }
  }
  T sum = 0;
  for (int c = 0; c < kChains; ++c) sum += x[c];
  if (sum == static_cast<T>(1.2345e30)) *out = sum;
}

__global__ void __launch_bounds__(kThreads) add_max_kernel(float plus, float* out) {
  float x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = start_of(c);
  for (int s = 0; s < kSteps / 16; ++s) {
#pragma unroll
    for (int u = 0; u < 16; ++u) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) x[c] = fmaxf(x[c], x[(c + 3) % kChains] + plus);
    }
  }
  float sum = 0;
  for (int c = 0; c < kChains; ++c) sum += x[c];
  if (sum == 1.2345e30f) *out = sum;
}

// Two pairs for each step of a chain: numbers that are not negative are ordered as integers.
__global__ void __launch_bounds__(kThreads) add_max3_kernel(float plus, float other, float* out) {
  int x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = __float_as_int(start_of(c));
  for (int s = 0; s < kSteps / 16; ++s) {
#pragma unroll
    for (int u = 0; u < 16; ++u) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) {
        // Two numbers to add: of one, the sum for a chain would serve another one, too.
        const int one = __float_as_int(__int_as_float(x[(c + 3) % kChains]) + plus);
        const int two = __float_as_int(__int_as_float(x[(c + 5) % kChains]) + other);
        x[c] = __vimax3_s32(x[c], one, two);
      }
    }
  }
  int sum = 0;
  for (int c = 0; c < kChains; ++c) sum += x[c];
  if (sum == 123456789) *out = static_cast<float>(sum);
}

__global__ void __launch_bounds__(kThreads) exp_kernel(float* out) {
  float x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = -start_of(c);
  for (int s = 0; s < kSteps / 16; ++s) {
#pragma unroll
    for (int u = 0; u < 16; ++u) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) {
        asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[c]));
      }
    }
  }
  float sum = 0;
  for (int c = 0; c < kChains; ++c) sum += x[c];
  if (sum == 1.2345e30f) *out = sum;
}

__global__ void empty_kernel() {}

class DevicePeaks {
 public:
  DevicePeaks() {
    for (auto& block : blocks_) block = static_cast<float*>(memory_.allocate(kLarge / 2));
    out_ = static_cast<float*>(memory_.allocate(1024));
    blocks_of_threads_ = 8u * static_cast<unsigned>(device_facts().multiprocessors);
    for (auto* block : blocks_) {
      fill_kernel<<<blocks_of_threads_, kThreads, 0, stream()>>>(block, kLarge / 2 / 4);
    }
    check(cudaGetLastError(), "a kernel's launch");
  }

  std::map<std::string, double> run() {
    const double half = static_cast<double>(kLarge / 2);
    const unsigned g = blocks_of_threads_;
    const auto* four = reinterpret_cast<const float4*>(blocks_[0]);
    rate("read_" + std::to_string(kLarge / 2), half,
         [&] { read_kernel<<<g, kThreads, 0, stream()>>>(four, kLarge / 2 / 16, 1, out_); });
    constexpr int kTimes = 64;
    rate("read_" + std::to_string(kCached), kTimes * static_cast<double>(kCached),
         [&] { read_kernel<<<g, kThreads, 0, stream()>>>(four, kCached / 16, kTimes, out_); });
    rate("copy", 2 * half, [&] {
      check(cudaMemcpyAsync(blocks_[1], blocks_[0], kLarge / 2, cudaMemcpyDeviceToDevice, stream()),
            "copying");
    });
    rate("triad", 3 * half, [&] {
      triad_kernel<<<g, kThreads, 0, stream()>>>(four, reinterpret_cast<const float4*>(blocks_[1]),
                                                 reinterpret_cast<float4*>(blocks_[2]),
                                                 kLarge / 2 / 16);
    });
    const double steps = static_cast<double>(g) * kThreads * kChains * kSteps;
    rate("fma_f32", steps, [&] { fma_kernel<float><<<g, kThreads, 0, stream()>>>(0.5f, out_); });
    rate("fma_f64", steps, [&] {
      fma_kernel<double><<<g, kThreads, 0, stream()>>>(0.5, reinterpret_cast<double*>(out_));
    });
    rate("add_max_f32", steps, [&] { add_max_kernel<<<g, kThreads, 0, stream()>>>(1e-6f, out_); });
    rate("add_max3_f32", 2 * steps,
         [&] { add_max3_kernel<<<g, kThreads, 0, stream()>>>(1e-6f, 2e-6f, out_); });
    rate("exp_f32", steps, [&] { exp_kernel<<<g, kThreads, 0, stream()>>>(out_); });
    products();
    launches();
    bus();
    return rates_;
  }

 private:
  cudaStream_t stream() const { return static_cast<cudaStream_t>(clock_.stream()); }

  void rate(const std::string& name, double work, const std::function<void()>& call) {
    call();
    check(cudaGetLastError(), "a kernel's launch");
    for (int round = 0; round < kRounds; ++round) {
      clock_.begin();
      call();
      const double seconds = clock_.end().calls_s;
      rates_[name] = std::max(rates_[name], work / seconds);
    }
  }

  void products() {
    constexpr int n = 8192;
    const SquareProducts of(clock_.stream());
    const double work = static_cast<double>(n) * n * n;
    for (const auto kind : {ProductKind::kF32, ProductKind::kTf32, ProductKind::kBf16,
                            ProductKind::kF16, ProductKind::kF64}) {
      rate(std::string("gemm_") + name_of(kind), work,
           [&] { of.multiply(kind, n, blocks_[0], blocks_[1], blocks_[2]); });
    }
  }

  void launches() {
    constexpr int kMany = 1000;
    const auto all = [&] {
      for (int i = 0; i < kMany; ++i) empty_kernel<<<1, 1, 0, stream()>>>();
    };
    rate("launch", kMany, all);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal), "capturing");
    all();
    check(cudaStreamEndCapture(stream(), &graph), "capturing");
    check(cudaGraphInstantiate(&ready, graph, 0), "making a graph");
    rate("launch_in_graph", kMany, [&] { check(cudaGraphLaunch(ready, stream()), "a graph"); });
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
  }

  void bus() {
    constexpr std::size_t kBytes = std::size_t{256} << 20;
    void* pinned = nullptr;
    check(cudaMallocHost(&pinned, kBytes), "allocating the host's memory");
    std::vector<char> pageable(kBytes, 1);
    const auto copies = [&](const std::string& suffix, void* host) {
      rate("to_device" + suffix, kBytes, [&] {
        check(cudaMemcpyAsync(blocks_[0], host, kBytes, cudaMemcpyHostToDevice, stream()), "copy");
      });
      rate("from_device" + suffix, kBytes, [&] {
        check(cudaMemcpyAsync(host, blocks_[0], kBytes, cudaMemcpyDeviceToHost, stream()), "copy");
      });
    };
    copies("", pinned);
    copies("_pageable", pageable.data());
    cudaFreeHost(pinned);
  }

  Clock clock_;
  Memory memory_;
  float* blocks_[3] = {};
  float* out_ = nullptr;
  unsigned blocks_of_threads_ = 1;
  std::map<std::string, double> rates_;
};

}  // namespace

std::map<std::string, double> measure_device_peaks() { return DevicePeaks().run(); }

}  // namespace assay::kernels::cuda
