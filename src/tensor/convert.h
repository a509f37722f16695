// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Conversion between dtypes, each value rounded at most once.
//
// To a floating-point dtype: nearest even; overflow gives an infinity; NaN stays NaN.
// To an integer dtype: the fraction is cut off, as C++ does it.
// To bool: whether the value is not zero (NaN is not zero).
// To complex: the imaginary part of a real value is 0.
// What has no answer is a UserError naming the value and its row-major index: NaN or a number out
// of range to an integer dtype. Complex to real is refused as a whole, whatever the values.

#include "tensor/view.h"

namespace assay {

// Writes every element of `from`, converted to the dtype of `to`, to the same index of `to`. The
// shapes are equal (else InternalError). The two must not overlap.
void convert_into(const TensorView& from, const MutableTensorView& to);

}  // namespace assay
