// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "einsum/labels/loop.h"
#include "kernels/cuda/device.h"

namespace assay::einsum::cuda {

// The dtypes of contractions; tensor/dtype.h is not for device code.
enum class Scalar { kBf16, kF32, kF64, kC64, kC128 };

// Elements of one tensor into another of that or another dtype, complex ones to complex ones alone.
// Fused loops over both: strides a are those of `from`, c those of `to`. Rounds to nearest, ties to
// even.
void convert(Scalar from_dtype, const void* from, Scalar to_dtype, void* to,
             std::span<const Loop> loops, kernels::cuda::Stream stream);

// x ← βx.
template <typename T>
void scale(T* x, std::int64_t elements, T beta, kernels::cuda::Stream stream);

}  // namespace assay::einsum::cuda
