// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every launch of this backend needs. For .cu files.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device.h"

namespace assay::transport::cuda {

inline unsigned blocks(std::int64_t all, std::int64_t each) {
  return static_cast<unsigned>((all + each - 1) / each);
}

// Of a block of threads, with the kernel's leave.
inline std::size_t most_shared_bytes() {
  static const std::size_t bytes = [] {
    int device = 0, most = 0;
    kernels::cuda::check(cudaGetDevice(&device), "asking for the device");
    kernels::cuda::check(
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "asking for shared memory");
    return static_cast<std::size_t>(most);
  }();
  return bytes;
}

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, unsigned threads, std::size_t shared_bytes,
            kernels::cuda::Stream stream, Arguments... arguments) {
  constexpr std::size_t kWithoutLeave = 48 * 1024;
  if (shared_bytes > kWithoutLeave) {
    // All there is, whatever this launch needs: threads that launch the same kernel at the same
    // time would take leave from each other.
    cudaFuncAttributes has{};
    kernels::cuda::check(cudaFuncGetAttributes(&has, kernel), "asking for shared memory");
    kernels::cuda::check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(most_shared_bytes() - has.sharedSizeBytes)),
        "asking for shared memory");
  }
  kernel<<<grid, threads, shared_bytes, static_cast<cudaStream_t>(stream)>>>(
      static_cast<Parameters>(arguments)...);
  kernels::cuda::check(cudaGetLastError(), "a kernel's launch");
}

}  // namespace assay::transport::cuda
