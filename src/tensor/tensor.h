// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/view.h"

namespace assay {

// A tensor that owns its elements: row-major, without gaps, aligned to 64 bytes, zero at first.
// Moves, never copies by accident. A moved-from tensor may only be assigned to or destroyed.
class Tensor {
 public:
  static constexpr std::size_t kAlignment = 64;

  // Throws std::bad_alloc when there is no memory.
  Tensor(DType dtype, Shape shape);
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(Tensor&&) noexcept = default;

  // The elements of any view in row-major order.
  static Tensor copy(const TensorView& view);
  // The same, converted; see convert.h for what is refused.
  static Tensor converted(const TensorView& view, DType dtype);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t element_count() const { return shape_.element_count(); }
  std::int64_t byte_count() const {
    return element_count() * static_cast<std::int64_t>(size_of(dtype_));
  }

  // Valid while the tensor lives; moving the tensor keeps its views valid.
  TensorView view() const { return {dtype_, data_.get(), shape_}; }
  MutableTensorView mutable_view() { return {dtype_, data_.get(), shape_}; }

  // All elements in row-major order. T must be the dtype's type (InternalError).
  template <Element T>
  std::span<T> as() {
    return {mutable_view().data<T>(), static_cast<std::size_t>(element_count())};
  }
  template <Element T>
  std::span<const T> as() const {
    return {view().data<T>(), static_cast<std::size_t>(element_count())};
  }
  // The same as bytes.
  std::span<std::byte> bytes() { return {data_.get(), static_cast<std::size_t>(byte_count())}; }
  std::span<const std::byte> bytes() const {
    return {data_.get(), static_cast<std::size_t>(byte_count())};
  }

 private:
  DType dtype_;
  Shape shape_;
  AlignedBlock<std::byte> data_;
};

}  // namespace assay
