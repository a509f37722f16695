// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "einsum/lower.h"
#include "einsum/workspace.h"

namespace assay::einsum {

// What ran, counted where it ran.
struct Counters {
  std::array<std::int64_t, kKernels> kernels{};  // steps, by kernel
  std::int64_t gemm_calls = 0, gemv_calls = 0;
  std::int64_t reference_calls = 0;
  double copied_bytes = 0;
  std::int64_t of(Kernel kernel) const { return kernels[static_cast<std::size_t>(kernel)]; }
};

// c = alpha·Σ a·b + beta·c as the step was lowered. T is the dtype's type. c overlaps nothing; with
// beta 0 it is not read. Allocates the step's workspace and nothing else of size.
template <typename T>
void run_pair(const Lowered& step, const T* a, const T* b, T* c, T alpha, T beta, int threads,
              Workspace& workspace, Counters& counters);

}  // namespace assay::einsum
