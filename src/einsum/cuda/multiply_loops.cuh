// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "einsum/cuda/nest.cuh"

namespace assay::einsum::cuda {

// c = alpha·a·b + beta·c, element by element of the loops; without b, of a alone. N is a
// DeviceNumber. Returns when it is enqueued.
template <typename N>
void multiply_loops(const Nest& free, const N* a, const N* b, N* c, N alpha, N beta,
                    kernels::cuda::Stream stream);

}  // namespace assay::einsum::cuda
