// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cuda/device.h"

namespace assay::einsum::cuda {

// The dtypes of contractions; tensor/dtype.h is not for device code.
enum class Scalar { kBf16, kF32, kF64, kC64, kC128 };

// Dense elements in another dtype, complex ones to complex ones alone.
// Rounds to nearest, ties to even.
void convert(Scalar from_dtype, const void* from, Scalar to_dtype, void* to, std::int64_t elements,
             kernels::cuda::Stream stream);

// x ← βx.
template <typename T>
void scale(T* x, std::int64_t elements, T beta, kernels::cuda::Stream stream);

}  // namespace assay::einsum::cuda
