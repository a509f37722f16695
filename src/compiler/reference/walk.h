// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Elements of views one after the other, and rows of them without gaps, for plain loops.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/graph/dtypes.h"
#include "compiler/graph/scalar.h"
#include "compiler/graph/view.h"
#include "tensor/view.h"

namespace assay::compiler {

// Where the operands' elements are for each element of a shape, in row-major order.
template <std::size_t kCount>
class Walk {
 public:
  // From the element `first` of the shape on.
  explicit Walk(const std::array<const FixedView*, kCount>& views, std::int64_t first = 0)
      : views_(views), at_(views[0]->shape.size()) {
    const auto& shape = views[0]->shape;
    for (std::size_t i = 0; i < kCount; ++i) {
      offsets_[i] = views[i]->offset;
      if (!shape.empty()) last_strides_[i] = views[i]->strides.back();
    }
    for (std::size_t axis = shape.size(); first > 0 && axis-- > 0; first /= shape[axis]) {
      at_[axis] = first % shape[axis];
      for (std::size_t i = 0; i < kCount; ++i) offsets_[i] += at_[axis] * views[i]->strides[axis];
    }
    if (!shape.empty()) left_ = shape.back() - at_.back();
  }
  std::int64_t operator[](std::size_t operand) const { return offsets_[operand]; }
  void next() {
    if (--left_ > 0) {
      for (std::size_t i = 0; i < kCount; ++i) offsets_[i] += last_strides_[i];
      return;
    }
    next_row();
  }

 private:
  // What the last axis is at is known by what is left of it.
  void next_row() {
    const auto& shape = views_[0]->shape;
    if (!shape.empty()) {
      left_ = shape.back();
      at_.back() = left_ - 1;
    }
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const bool goes_on = ++at_[axis] < shape[axis];
      for (std::size_t i = 0; i < kCount; ++i) {
        const auto stride = views_[i]->strides[axis];
        offsets_[i] += goes_on ? stride : -stride * (shape[axis] - 1);
      }
      if (goes_on) return;
      at_[axis] = 0;
    }
  }

  std::array<const FixedView*, kCount> views_;
  std::vector<std::int64_t> at_;  // but along the last axis
  std::int64_t left_ = 0;         // of the last axis
  std::array<std::int64_t, kCount> offsets_{}, last_strides_{};
};

// The rows of a view along its last axis, each of them without gaps: where they lie, or in a copy
// that has each row once.
template <typename T>
class Rows {
 public:
  Rows(const T* data, FixedView view) : data_(data), view_(std::move(view)) {
    step_ = view_.strides.back();
    length_ = view_.shape.back();
    if (step_ != 1 && length_ > 1) copy();
    end_rows();
  }
  // Of values that may be of a narrower dtype: then a row is widened when it is asked for.
  Rows(const TensorView& values, FixedView view) : view_(std::move(view)) {
    step_ = view_.strides.back();
    length_ = view_.shape.back();
    if (values.dtype() == kDTypeOf<T>) {
      data_ = values.data<T>();
      if (step_ != 1 && length_ > 1) copy();
    } else {
      check(kIsFloating<T>, "what is widened is of floating point");
      narrow_ = values;
    }
    end_rows();
  }
  std::int64_t length() const { return length_; }
  // Of the rows' first elements: for Walk, and at().
  const FixedView& view() const { return view_; }
  const T* at(std::int64_t offset) const { return data_ + offset; }
  // Of any values: from element `begin` of a row on, `count` of them. `room` holds what is widened,
  // until it is used again.
  const T* at(std::int64_t offset, std::int64_t begin, std::int64_t count,
              std::vector<T>& room) const {
    if constexpr (kIsFloating<T>) {
      if (narrow_) return widened_row(offset, begin, count, room);
    }
    return at(offset) + begin;
  }

 private:
  const T* widened_row(std::int64_t offset, std::int64_t begin, std::int64_t count,
                       std::vector<T>& room) const {
    room.resize(static_cast<std::size_t>(count));
    visit_graph_dtype(narrow_->dtype(), [&]<typename From>(std::type_identity<From>) {
      const auto* from = static_cast<const From*>(narrow_->raw_data()) + offset;
      for (std::int64_t i = 0; i < count; ++i) {
        room[static_cast<std::size_t>(i)] = converted_to<From, T>(from[(begin + i) * step_]);
      }
    });
    return room.data();
  }
  void end_rows() {
    view_.shape.pop_back();
    view_.strides.pop_back();
  }
  void copy() {
    auto once = view_;
    for (std::size_t axis = 0; axis + 1 < once.shape.size(); ++axis) {
      if (once.strides[axis] == 0) once.shape[axis] = std::min<std::int64_t>(once.shape[axis], 1);
    }
    const auto count = once.element_count();
    copy_ = std::make_unique<T[]>(static_cast<std::size_t>(count));
    Walk<1> walk({&once});
    for (std::int64_t i = 0; i < count; ++i, walk.next()) copy_[i] = data_[walk[0]];
    std::int64_t step = 1;
    for (std::size_t axis = once.shape.size(); axis-- > 0;) {
      if (view_.strides[axis] != 0 || axis + 1 == once.shape.size()) view_.strides[axis] = step;
      step *= once.shape[axis];
    }
    view_.offset = 0;
    data_ = copy_.get();
  }

  const T* data_ = nullptr;
  std::optional<TensorView> narrow_;
  FixedView view_;
  std::int64_t length_ = 0, step_ = 1;
  std::unique_ptr<T[]> copy_;
};

}  // namespace assay::compiler
