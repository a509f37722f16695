// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A tensor of any type for the tests of files.

#include "tensor/fill.h"
#include "tensor/tensor.h"

namespace assay {

// The same values at every call: uniform on [−10, 10), whole numbers below 100, fair coins.
inline Tensor sample(DType dtype, Shape shape) {
  Tensor t(dtype, std::move(shape));
  const Philox stream(1);
  if (is_floating(dtype) || is_complex(dtype)) {
    fill_uniform(t.mutable_view(), stream, -10, 10);
  } else {
    fill_below(t.mutable_view(), stream, dtype == DType::kBool ? 2 : 100);
  }
  return t;
}

}  // namespace assay
