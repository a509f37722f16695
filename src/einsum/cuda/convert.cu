// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/cuda/convert.h"

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "einsum/cuda/launch.h"
#include "einsum/cuda/nest.cuh"
#include "einsum/cuda/numbers.cuh"

namespace assay::einsum::cuda {
namespace {

constexpr int kThreads = 256;

template <typename From, typename To>
__device__ inline To converted(From x) {
  constexpr bool kFromPair = sizeof(From) == 16 || std::is_same_v<From, Pair<float>>;
  constexpr bool kToPair = sizeof(To) == 16 || std::is_same_v<To, Pair<float>>;
  if constexpr (std::is_same_v<From, __nv_bfloat16>) {
    return converted<float, To>(__bfloat162float(x));
  } else if constexpr (kFromPair) {
    return {static_cast<decltype(To::re)>(x.re), static_cast<decltype(To::re)>(x.im)};
  } else if constexpr (kToPair) {
    return {static_cast<decltype(To::re)>(x), 0};
  } else if constexpr (std::is_same_v<To, __nv_bfloat16>) {
    if constexpr (std::is_same_v<From, double>) {
      return __double2bfloat16(x);
    } else {
      return __float2bfloat16(x);
    }
  } else {
    return static_cast<To>(x);
  }
}

template <typename From, typename To>
__global__ void convert_kernel(const From* from, To* to, std::int64_t elements) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
       e < elements; e += step) {
    to[e] = converted<From, To>(from[e]);
  }
}

template <bool kWide, typename From, typename To>
__global__ void convert_views_kernel(const Nest nest, const From* from, To* to) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
       e < nest.count; e += step) {
    const auto at = offsets<kWide>(nest, e);
    to[at.c] = converted<From, To>(from[at.a]);
  }
}

template <typename From, typename To>
void convert_all(const From* from, To* to, std::span<const Loop> loops,
                 kernels::cuda::Stream stream) {
  checked_loops(loops.size());
  Nest nest;
  for (const auto& loop : loops) nest.add(loop);
  const unsigned blocks = blocks_for(nest.count, kThreads);
  if (loops.empty() || (loops.size() == 1 && loops[0].a == 1 && loops[0].c == 1)) {
    launch(convert_kernel<From, To>, blocks, kThreads, 0, stream, from, to, nest.count);
  } else if (is_wide(nest, Nest())) {
    launch(convert_views_kernel<true, From, To>, blocks, kThreads, 0, stream, nest, from, to);
  } else {
    launch(convert_views_kernel<false, From, To>, blocks, kThreads, 0, stream, nest, from, to);
  }
}

template <typename N>
__global__ void scale_kernel(N* x, std::int64_t elements, N beta) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
       e < elements; e += step) {
    x[e] = is_zero(beta) ? beta : beta * x[e];
  }
}

// Calls use(T*) with the kernels' type of the dtype.
template <typename Use>
void with_type(Scalar dtype, const Use& use) {
  switch (dtype) {
    case Scalar::kBf16:
      return use(static_cast<__nv_bfloat16*>(nullptr));
    case Scalar::kF32:
      return use(static_cast<float*>(nullptr));
    case Scalar::kF64:
      return use(static_cast<double*>(nullptr));
    case Scalar::kC64:
      return use(static_cast<Pair<float>*>(nullptr));
    case Scalar::kC128:
      return use(static_cast<Pair<double>*>(nullptr));
  }
}

template <typename T>
inline constexpr bool kIsPair = std::is_same_v<T, Pair<float>> || std::is_same_v<T, Pair<double>>;

}  // namespace

void convert(Scalar from_dtype, const void* from, Scalar to_dtype, void* to,
             std::span<const Loop> loops, kernels::cuda::Stream stream) {
  with_type(from_dtype, [&]<typename From>(From*) {
    with_type(to_dtype, [&]<typename To>(To*) {
      if constexpr (kIsPair<From> && !kIsPair<To>) {
        throw kernels::cuda::DeviceError(kernels::cuda::Trouble::kOther,
                                         "a complex number has no real dtype");
      } else {
        convert_all(static_cast<const From*>(from), static_cast<To*>(to), loops, stream);
      }
    });
  });
}

template <typename T>
void scale(T* x, std::int64_t elements, T beta, kernels::cuda::Stream stream) {
  using N = DeviceNumber<T>;
  launch(scale_kernel<N>, blocks_for(elements, kThreads), kThreads, 0, stream,
         reinterpret_cast<N*>(x), elements, device_number(beta));
}
template void scale<float>(float*, std::int64_t, float, kernels::cuda::Stream);
template void scale<double>(double*, std::int64_t, double, kernels::cuda::Stream);
template void scale<std::complex<float>>(std::complex<float>*, std::int64_t, std::complex<float>,
                                         kernels::cuda::Stream);
template void scale<std::complex<double>>(std::complex<double>*, std::int64_t, std::complex<double>,
                                          kernels::cuda::Stream);

}  // namespace assay::einsum::cuda
