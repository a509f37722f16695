// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/internal/stored_elements.h"

#include <cstring>

namespace assay {

TensorView view_stored_elements(std::span<const std::byte> bytes, DType dtype, const Shape& shape,
                                Axes strides, std::deque<Tensor>& copies, std::string_view what) {
  check(static_cast<std::int64_t>(bytes.size()) ==
            shape.element_count() * static_cast<std::int64_t>(size_of(dtype)),
        "stored elements have the size of their shape");
  if (dtype == DType::kBool) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (std::to_integer<unsigned>(bytes[i]) > 1) {
        fail("{}: byte {} of the bool elements is neither 0 nor 1: {}", what, i,
             std::to_integer<unsigned>(bytes[i]));
      }
    }
  }
  const void* data = bytes.data();
  if (bytes.empty()) {
    data = nullptr;
  } else if (reinterpret_cast<std::uintptr_t>(data) % alignment_of(dtype) != 0) {
    Tensor& copy = copies.emplace_back(dtype, shape);
    std::memcpy(copy.bytes().data(), bytes.data(), bytes.size());
    data = copy.bytes().data();
  }
  return {dtype, data, shape, std::move(strides)};
}

}  // namespace assay
