// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Strided views of tensors that something else owns.
//
// A view is a dtype, a shape, strides in elements (of any sign; 0 repeats an element) and a pointer
// to element (0, …, 0). It is cheap to copy, never owns, and is valid while the owner lives.
// The pointer is aligned for the dtype; nothing more is promised about it.
// Wrong use (a wrong dtype or axis, an index out of range) is a bug: InternalError.

#include <complex>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace assay {

template <bool kMutable>
class BasicTensorView {
 public:
  template <typename T>
  using Qualified = std::conditional_t<kMutable, T, const T>;
  using Pointer = Qualified<void>*;

  // Row-major elements without gaps. `data` may be null if there are no elements.
  BasicTensorView(DType dtype, Pointer data, Shape shape);
  // The caller answers for every element that the strides reach.
  BasicTensorView(DType dtype, Pointer data, Shape shape, Axes strides);
  // A mutable view can be read.
  template <bool kOtherMutable>
  requires(kOtherMutable && !kMutable) BasicTensorView(const BasicTensorView<kOtherMutable>& other)
      : BasicTensorView(other.dtype(), other.raw_data(), other.shape(), other.strides()) {}

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::size_t rank() const { return shape_.rank(); }
  std::int64_t extent(std::size_t axis) const { return shape_[axis]; }
  std::int64_t stride(std::size_t axis) const { return strides_[axis]; }
  const Axes& strides() const { return strides_; }
  std::int64_t element_count() const { return shape_.element_count(); }
  // Bytes of the elements, each counted once: element_count() * size_of(dtype()).
  std::int64_t byte_count() const;

  Pointer raw_data() const { return data_; }
  // Element (0, …, 0). T must be the dtype's type.
  template <Element T>
  Qualified<T>* data() const {
    check(dtype_ == kDTypeOf<T>, "a tensor is read as the dtype it has");
    return static_cast<Qualified<T>*>(data_);
  }
  // Element (index…), one index per axis. Dtype, rank and range are checked where dcheck() is.
  template <Element T, std::integral... I>
  Qualified<T>& at(I... index) const {
    dcheck(dtype_ == kDTypeOf<T>, "a tensor is read as the dtype it has");
    dcheck(sizeof...(I) == rank(), "one index per axis");
    std::int64_t offset = 0;
    std::size_t axis = 0;
    ((dcheck(
          static_cast<std::int64_t>(index) >= 0 && static_cast<std::int64_t>(index) < shape_[axis],
          "an index lies within its axis"),
      offset += static_cast<std::int64_t>(index) * strides_[axis++]),
     ...);
    return static_cast<Qualified<T>*>(data_)[offset];
  }

  // Whether the elements lie in row-major order without gaps (strides of axes of extent 1, and all
  // strides of a view without elements, do not matter).
  bool is_contiguous() const;

  // Elements begin, begin + step, … below end of one axis; step > 0, 0 <= begin <= end <= extent.
  BasicTensorView slice(std::size_t axis, std::int64_t begin, std::int64_t end,
                        std::int64_t step = 1) const;
  // One index of one axis; the axis disappears.
  BasicTensorView select(std::size_t axis, std::int64_t index) const;
  // Axis i of the result is axis order[i] of this view; `order` is a permutation of the axes.
  BasicTensorView permute(std::span<const std::size_t> order) const;
  // The last two axes exchanged; rank at least 2.
  BasicTensorView transpose() const;
  // The same elements in row-major order under another shape of the same element count, without
  // copying; nothing where the strides do not allow it.
  std::optional<BasicTensorView> reshape(const Shape& shape) const;
  // Repeats axes of extent 1, and adds axes in front, to reach `shape`. Reading only: writes would
  // meet. Throws UserError naming both shapes when it cannot be done.
  BasicTensorView broadcast(const Shape& shape) const requires(!kMutable);

 private:
  DType dtype_;
  Shape shape_;
  Axes strides_;
  Pointer data_;
};

using TensorView = BasicTensorView<false>;
using MutableTensorView = BasicTensorView<true>;

extern template class BasicTensorView<false>;
extern template class BasicTensorView<true>;

// Element `index`, counted in row-major order, of any real dtype. Exact, except that i64 and u64
// beyond 2^53 are rounded to the nearest double. Complex dtypes are a bug here.
double value_as_double(const TensorView& view, std::int64_t index);
// The same for every dtype; real values have imaginary part 0.
std::complex<double> value_as_complex(const TensorView& view, std::int64_t index);

}  // namespace assay
