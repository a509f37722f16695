// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "einsum/kernels/workspace.h"
#include "einsum/labels/loop.h"
#include "kernels/cuda/device.h"

namespace assay::einsum::cuda {

// c = alpha·Σ a·b + beta·c over loops that were dealt out to threads (lower/device_nest.h); without
// b, of a alone. T is float, double, or std::complex of either; sums are kept in f64 and made in an
// order that depends on the sizes alone. With beta 0, c is not read. Returns when it is enqueued.
template <typename T>
void contract_loops(std::span<const Loop> loops, int lanes, const T* a, const T* b, T* c, T alpha,
                    T beta, Workspace& workspace, kernels::cuda::Stream stream);

}  // namespace assay::einsum::cuda
