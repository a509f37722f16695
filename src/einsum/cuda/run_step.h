// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "einsum/kernels/counters.h"
#include "einsum/kernels/workspace.h"
#include "einsum/lower/lower.h"
#include "kernels/cuda/libraries.h"

namespace assay::einsum::cuda {

// Where steps run: one stream, so that a block of the workspace may be used again at once.
struct StepPlace {
  const kernels::cuda::Cublas& cublas;
  Workspace& workspace;  // of the device's memory
  kernels::cuda::Stream stream;
};

// The workspace's memory on the device. Throws DeviceError.
MemorySource device_memory();

// c = alpha·Σ a·b + beta·c as the step was lowered for a device; a, b and c are its addresses. With
// beta 0, c is not read. Returns when it is enqueued.
template <typename T>
void run_step(const Lowered& step, const T* a, const T* b, T* c, T alpha, T beta,
              const StepPlace& place, Counters& counters);

}  // namespace assay::einsum::cuda
