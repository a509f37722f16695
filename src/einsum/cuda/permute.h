// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "einsum/labels/loop.h"
#include "kernels/cuda/device.h"

namespace assay::einsum::cuda {

// c = alpha·a + beta·c on the device, as permute() of kernels/strided.h. T is float, double, or
// std::complex of either; a and c are the device's addresses. Returns when it is enqueued.
template <typename T>
void permute(std::span<const Loop> loops, const T* a, T* c, T alpha, T beta,
             kernels::cuda::Stream stream);

}  // namespace assay::einsum::cuda
