// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Operands for tests: the shapes of an expression, filled with numbers in [-1, 1).

#include <string>
#include <utility>
#include <vector>

#include "einsum/testing/example_networks.h"
#include "tensor/fill.h"
#include "tensor/tensor.h"

namespace assay::einsum {

inline Tensor filled(DType dtype, Shape shape, std::uint64_t seed) {
  Tensor t(dtype, std::move(shape));
  fill_uniform(t.mutable_view(), Philox(seed), -1, 1);
  return t;
}

inline std::vector<Tensor> operands_of(const std::string& expression,
                                       const std::vector<std::int64_t>& extents,
                                       DType dtype = DType::kF64) {
  std::vector<Tensor> tensors;
  for (const auto& shape : shapes_of(expression, extents)) {
    tensors.push_back(filled(dtype, shape, tensors.size() + 1));
  }
  return tensors;
}

inline std::vector<TensorView> views_of(const std::vector<Tensor>& tensors) {
  std::vector<TensorView> views;
  for (const auto& t : tensors) views.push_back(t.view());
  return views;
}

}  // namespace assay::einsum
