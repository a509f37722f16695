// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/fill.h"
#include "tensor/tensor.h"

namespace assay::einsum::cuda {

inline Tensor random_tensor(DType dtype, Shape shape, std::uint64_t seed, double scale = 1) {
  Tensor t(dtype, std::move(shape));
  fill_uniform(t.mutable_view(), Philox(seed), -scale, scale);
  return t;
}

}  // namespace assay::einsum::cuda
