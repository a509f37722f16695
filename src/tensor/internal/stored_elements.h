// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"
#include "tensor/view.h"

namespace assay {

// A view of elements that lie in a mapped file. Uses the bytes in place; where they are not aligned
// for the dtype, copies them into `copies`, which then has to live as long as the view. Bytes of a
// bool that are neither 0 nor 1 would be undefined behaviour in every reader: UserError naming
// `what`. `bytes` has exactly the elements of the shape.
TensorView view_stored_elements(std::span<const std::byte> bytes, DType dtype, const Shape& shape,
                                Axes strides, std::deque<Tensor>& copies, std::string_view what);

}  // namespace assay
