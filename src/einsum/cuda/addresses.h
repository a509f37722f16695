// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "einsum/labels/loop.h"
#include "kernels/cuda/device.h"

namespace assay::einsum::cuda {

// The addresses of all combinations of the loops, the last one fastest, in elements of `size`
// bytes: as cuBLAS wants those of a batch that no single step describes. All memory is the
// device's.
struct Addresses {
  const void **a = nullptr, **b = nullptr;
  void** c = nullptr;
};
void write_addresses(std::span<const Loop> loops, const void* a, const void* b, void* c,
                     std::size_t size, const Addresses& to, kernels::cuda::Stream stream);

}  // namespace assay::einsum::cuda
