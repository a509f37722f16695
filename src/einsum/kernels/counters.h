// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "einsum/kernels/forms.h"

namespace assay::einsum {

// What ran, counted where it ran.
struct Counters {
  std::array<std::int64_t, kKernels> kernels{};  // steps, by kernel
  std::int64_t gemm_calls = 0, gemv_calls = 0;
  std::int64_t reference_calls = 0;
  double copied_bytes = 0;
  std::int64_t of(Kernel kernel) const { return kernels[static_cast<std::size_t>(kernel)]; }
};

}  // namespace assay::einsum
