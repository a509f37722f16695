// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every launch of this backend needs. For .cu files.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device.h"

namespace assay::einsum::cuda {

inline constexpr int kMostLoops = 32;  // that a kernel takes; after fusing, no tensor has more
inline int checked_loops(std::size_t loops) {
  if (loops > kMostLoops) {
    throw kernels::cuda::DeviceError(kernels::cuda::Trouble::kOther,
                                     "a step with more than 32 loops has no kernel");
  }
  return static_cast<int>(loops);
}

inline int multiprocessors() {
  static const int count = [] {
    int device = 0, found = 0;
    kernels::cuda::check(cudaGetDevice(&device), "asking for the device");
    kernels::cuda::check(cudaDeviceGetAttribute(&found, cudaDevAttrMultiProcessorCount, device),
                         "asking for multiprocessors");
    return found;
  }();
  return count;
}

// Enough blocks for `all`, or to fill the device a few times over.
inline unsigned blocks_for(std::int64_t all, int each) {
  const std::int64_t wanted = (all + each - 1) / each;
  return static_cast<unsigned>(
      std::clamp<std::int64_t>(wanted, 1, static_cast<std::int64_t>(multiprocessors()) * 64));
}

// As many blocks as the device runs at a time, and no more than there is work for.
template <typename Kernel>
unsigned resident_blocks(Kernel* kernel, int threads, std::size_t shared_bytes, std::int64_t work) {
  constexpr std::size_t kWithoutLeave = 48 * 1024;
  if (shared_bytes > kWithoutLeave) {
    kernels::cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              static_cast<int>(shared_bytes)),
                         "asking for shared memory");
  }
  int each = 0;
  kernels::cuda::check(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared_bytes),
      "asking for room");
  return static_cast<unsigned>(std::clamp<std::int64_t>(
      work, 1, static_cast<std::int64_t>(multiprocessors()) * std::max(1, each)));
}

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, unsigned threads, std::size_t shared_bytes,
            kernels::cuda::Stream stream, Arguments... arguments) {
  kernel<<<grid, threads, shared_bytes, static_cast<cudaStream_t>(stream)>>>(
      static_cast<Parameters>(arguments)...);
  kernels::cuda::check(cudaGetLastError(), "a kernel's launch");
}

}  // namespace assay::einsum::cuda
