// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every launch of this backend needs.

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/device.h"

namespace assay::semiring::cuda {

inline void check(cudaError_t status, const char* what) { kernels::cuda::check(status, what); }

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Launches a kernel. One that `follows` another of ours on the stream may start before that one is
// done, and waits for it by wait_for_the_kernel_before() or after_the_kernel_before() (ptx.cuh),
// which every kernel must call that is launched so, or that such a one follows on another.
template <typename... Parameters, typename... Arguments>
void launch_kernel(void (*kernel)(Parameters...), dim3 grid, int threads, int shared_bytes,
                   cudaStream_t stream, bool follows, Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = stream;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = follows ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "a kernel's launch");
}

// The same in clusters of so many blocks, of which the grid has a whole number; follows nothing.
template <typename... Parameters, typename... Arguments>
void launch_clusters(void (*kernel)(Parameters...), dim3 grid, int threads, int cluster,
                     cudaStream_t stream, Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "a kernel's launch");
}

// Hands out parts of one block of memory, each on a boundary of 1024 bytes. Without memory it
// counts only.
class Arena {
 public:
  explicit Arena(void* memory) : memory_(static_cast<char*>(memory)) {}
  template <typename T>
  T* take(std::int64_t count) {
    T* part = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + used_);
    used_ += static_cast<std::size_t>(ceil_div(count * static_cast<std::int64_t>(sizeof(T)), 1024) *
                                      1024);
    return part;
  }
  std::size_t used() const { return used_; }
  bool counts_only() const { return memory_ == nullptr; }

 private:
  char* memory_;
  std::size_t used_ = 0;
};

// One factor as the kernels see it: for A its rows, for B its columns; element (row, term) of batch
// i at data[i·batch_stride + row·row_stride + term·term_stride].
template <typename T>
struct Factor {
  const T* data;
  std::int64_t row_stride, term_stride, batch_stride;
  int rows, terms;
};

template <typename T>
struct Result {
  T* data;
  std::int64_t row_stride, column_stride, batch_stride;
};

}  // namespace assay::semiring::cuda
