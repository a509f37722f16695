// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "tensor/convert.h"

namespace assay {

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  // At least one byte, so that an empty tensor too has a pointer of its own.
  const auto size = std::max<std::size_t>(static_cast<std::size_t>(byte_count()), 1);
  data_ = aligned_block<std::byte>(size);
  std::memset(data_.get(), 0, size);
}

Tensor Tensor::copy(const TensorView& view) { return converted(view, view.dtype()); }

Tensor Tensor::converted(const TensorView& view, DType dtype) {
  Tensor result(dtype, view.shape());
  convert_into(view, result.mutable_view());
  return result;
}

}  // namespace assay
