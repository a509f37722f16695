// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sixteen bits are for keeping, not for computing: f32 inside, rounded once at the end.

#include "compiler/graph/graph_tensor.h"

namespace assay::compiler {

inline GraphTensor widened_of(const GraphTensor& x) {
  const bool is_narrow = x.dtype() == DType::kF16 || x.dtype() == DType::kBF16;
  return is_narrow ? x.cast(DType::kF32) : x;
}
template <typename F>
GraphTensor computed_wide(const GraphTensor& x, F&& f) {
  return f(widened_of(x)).cast(x.dtype());
}

}  // namespace assay::compiler
