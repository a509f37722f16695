// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/view.h"

#include <algorithm>

namespace assay {

template <bool kMutable>
BasicTensorView<kMutable>::BasicTensorView(DType dtype, Pointer data, Shape shape)
    : BasicTensorView(dtype, data, shape, row_major_strides(shape)) {}

template <bool kMutable>
BasicTensorView<kMutable>::BasicTensorView(DType dtype, Pointer data, Shape shape, Axes strides)
    : dtype_(dtype), shape_(std::move(shape)), strides_(std::move(strides)), data_(data) {
  check(strides_.size() == shape_.rank(), "one stride per axis");
  check(data_ != nullptr || element_count() == 0, "a view of elements has a pointer to them");
  check(reinterpret_cast<std::uintptr_t>(data_) % alignment_of(dtype_) == 0,
        "a view's pointer is aligned for its dtype");
}

template <bool kMutable>
std::int64_t BasicTensorView<kMutable>::byte_count() const {
  return element_count() * static_cast<std::int64_t>(size_of(dtype_));
}

template <bool kMutable>
bool BasicTensorView<kMutable>::is_contiguous() const {
  if (element_count() == 0) return true;
  const auto dense = row_major_strides(shape_);
  for (std::size_t axis = 0; axis < rank(); ++axis) {
    if (shape_[axis] != 1 && strides_[axis] != dense[axis]) return false;
  }
  return true;
}

namespace {

// Moves a pointer by elements; a pointer to nothing stays where it is.
template <typename Pointer>
Pointer advanced(Pointer data, std::int64_t elements, DType dtype, bool has_elements) {
  if (!has_elements) return data;
  using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>, const std::byte,
                                  std::byte>;
  return static_cast<Byte*>(data) + elements * static_cast<std::int64_t>(size_of(dtype));
}

}  // namespace

template <bool kMutable>
BasicTensorView<kMutable> BasicTensorView<kMutable>::slice(std::size_t axis, std::int64_t begin,
                                                           std::int64_t end,
                                                           std::int64_t step) const {
  check(axis < rank(), "a slice names an axis of the view");
  check(0 <= begin && begin <= end && end <= shape_[axis], "a slice lies within its axis");
  check(step > 0, "a slice steps forward");
  Axes extents = shape_.extents();
  extents[axis] = begin == end ? 0 : (end - begin - 1) / step + 1;
  auto strides = strides_;
  // A stride that is never used must not overflow.
  strides[axis] = extents[axis] > 1 ? strides_[axis] * step : strides_[axis];
  Shape shape(std::move(extents));
  const bool has_elements = shape.element_count() != 0;
  return {dtype_, advanced(data_, begin * strides_[axis], dtype_, has_elements), std::move(shape),
          std::move(strides)};
}

template <bool kMutable>
BasicTensorView<kMutable> BasicTensorView<kMutable>::select(std::size_t axis,
                                                            std::int64_t index) const {
  check(axis < rank(), "a selection names an axis of the view");
  check(0 <= index && index < shape_[axis], "a selection lies within its axis");
  return {dtype_, advanced(data_, index * strides_[axis], dtype_, element_count() != 0),
          Shape(shape_.extents().without(axis)), strides_.without(axis)};
}

template <bool kMutable>
BasicTensorView<kMutable> BasicTensorView<kMutable>::permute(
    std::span<const std::size_t> order) const {
  check(order.size() == rank(), "a permutation names every axis");
  std::vector<bool> seen(rank(), false);
  Axes extents(rank()), strides(rank());
  for (std::size_t i = 0; i < rank(); ++i) {
    const std::size_t axis = order[i];
    check(axis < rank() && !seen[axis], "a permutation names every axis once");
    seen[axis] = true;
    extents[i] = shape_[axis];
    strides[i] = strides_[axis];
  }
  return {dtype_, data_, Shape(std::move(extents)), std::move(strides)};
}

template <bool kMutable>
BasicTensorView<kMutable> BasicTensorView<kMutable>::transpose() const {
  check(rank() >= 2, "a transposed view has at least two axes");
  std::vector<std::size_t> order(rank());
  for (std::size_t axis = 0; axis < rank(); ++axis) order[axis] = axis;
  std::swap(order[rank() - 1], order[rank() - 2]);
  return permute(order);
}

template <bool kMutable>
std::optional<BasicTensorView<kMutable>> BasicTensorView<kMutable>::reshape(
    const Shape& shape) const {
  check(shape.element_count() == element_count(), "a reshaped view has the same element count");
  if (element_count() == 0) return BasicTensorView(dtype_, data_, shape);
  // Both shapes are cut into groups of axes with equal products, outermost first. A group of old
  // axes can be cut anew exactly if it is evenly strided throughout; axes of extent 1 say nothing.
  std::vector<std::int64_t> extents, steps;
  for (std::size_t axis = 0; axis < rank(); ++axis) {
    if (shape_[axis] == 1) continue;
    extents.push_back(shape_[axis]);
    steps.push_back(strides_[axis]);
  }
  Axes strides(shape.rank());
  std::size_t old_axis = 0, new_axis = 0;
  while (old_axis < extents.size()) {
    const std::size_t old_begin = old_axis, new_begin = new_axis;
    std::int64_t old_product = extents[old_axis++], new_product = 1;
    while (old_product != new_product) {
      if (new_product < old_product) {
        new_product *= shape[new_axis++];
      } else {
        old_product *= extents[old_axis++];
      }
    }
    for (std::size_t axis = old_begin; axis + 1 < old_axis; ++axis) {
      if (steps[axis] != steps[axis + 1] * extents[axis + 1]) return std::nullopt;
    }
    std::int64_t step = steps[old_axis - 1];
    for (std::size_t axis = new_axis; axis-- > new_begin;) {
      strides[axis] = step;
      step *= shape[axis];
    }
  }
  for (; new_axis < shape.rank(); ++new_axis) strides[new_axis] = 1;  // trailing extents of 1
  return BasicTensorView(dtype_, data_, shape, std::move(strides));
}

template <bool kMutable>
BasicTensorView<kMutable> BasicTensorView<kMutable>::broadcast(const Shape& shape) const
    requires(!kMutable) {
  const auto refuse = [&] {
    fail("cannot broadcast {} to {}", shape_.to_string(), shape.to_string());
  };
  if (shape.rank() < rank()) refuse();
  const std::size_t added = shape.rank() - rank();
  Axes strides(shape.rank());
  for (std::size_t axis = 0; axis < rank(); ++axis) {
    if (shape_[axis] == shape[added + axis]) {
      strides[added + axis] = strides_[axis];
    } else if (shape_[axis] != 1) {
      refuse();
    }
  }
  return {dtype_, data_, shape, std::move(strides)};
}

template class BasicTensorView<false>;
template class BasicTensorView<true>;

namespace {

std::int64_t offset_of(const TensorView& view, std::int64_t index) {
  check(0 <= index && index < view.element_count(), "an element index lies within the tensor");
  if (view.is_contiguous()) return index;  // divisions take long
  std::int64_t offset = 0;
  for (std::size_t axis = view.rank(); axis-- > 0;) {
    offset += index % view.extent(axis) * view.stride(axis);
    index /= view.extent(axis);
  }
  return offset;
}

}  // namespace

double value_as_double(const TensorView& view, std::int64_t index) {
  const std::int64_t offset = offset_of(view, index);
  return visit_dtype(view.dtype(), [&]<typename T>(std::type_identity<T>) -> double {
    if constexpr (std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>) {
      throw InternalError("a complex value is not read as a double");
    } else {
      return static_cast<double>(view.data<T>()[offset]);
    }
  });
}

std::complex<double> value_as_complex(const TensorView& view, std::int64_t index) {
  const std::int64_t offset = offset_of(view, index);
  switch (view.dtype()) {
    case DType::kC64:
      return std::complex<double>(view.data<std::complex<float>>()[offset]);
    case DType::kC128:
      return view.data<std::complex<double>>()[offset];
    default:
      return value_as_double(view, index);
  }
}

}  // namespace assay
