// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tensors in the middle of their dtype's range.
//
// Decompositions square elements. Those of 1e-170 are 0 squared and those of 1e170 infinite, so
// that a norm of 0 says "nothing is lost" where everything is. Multiplied by a power of two, which
// changes no digit, any tensor can be decomposed; its weights or core are multiplied back.

#include <span>
#include <string_view>

#include "einsum/decompose/matrix.h"

namespace assay::einsum {

// The tensor is x·2^exponent.
template <typename T>
struct Normalized {
  DenseTensor<T> x;
  double norm = 0;  // of x; 0 for the zero tensor only
  int exponent = 0;
};

// Borrows the view's elements where they need no scaling, as DenseTensor::borrow does. Throws
// UserError, which begins with `who`, where there are NaN or infinite elements.
template <typename T>
Normalized<T> normalized(const TensorView& view, std::string_view who);

// Multiplies by 2^exponent. Throws UserError where a value leaves the range of T.
template <typename T>
void scale_back(std::span<T> values, int exponent, std::string_view who);

}  // namespace assay::einsum
