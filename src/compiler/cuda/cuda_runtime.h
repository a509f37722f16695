// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programs on the current NVIDIA GPU.

#include <string>

#include "compiler/run/executor.h"

namespace assay::compiler::cuda {

struct CudaOptions {
  std::string cache;  // a folder for compiled kernels; empty: none
  // Kernel by kernel, each waited for: who wants to know which of them fails. Nothing is captured.
  bool sequential = false;
  bool has_library = true;  // cuBLAS for products of many rows; else our own tiles
};

// Everything goes to one stream; one thread at a time. Throws EnvironmentError where there is no
// device, no driver or no NVRTC: nothing here computes elsewhere. Its programs throw
// kernels::cuda::DeviceError.
Runtime cuda_runtime(const CudaOptions& options = {});

}  // namespace assay::compiler::cuda
