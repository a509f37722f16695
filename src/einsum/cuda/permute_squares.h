// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "einsum/lower/permute_turns.h"
#include "kernels/cuda/device.h"

namespace assay::einsum::cuda {

// c = a as `turns` says (lower/permute_turns.h), of numbers of 4 or 8 bytes. Both begin on a
// boundary of sixteen bytes.
void turn_squares(const PermuteTurns& turns, std::size_t element_size, const void* a, void* c,
                  kernels::cuda::Stream stream);

}  // namespace assay::einsum::cuda
