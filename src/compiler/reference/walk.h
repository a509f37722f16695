// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Elements of views one after the other, and rows of them without gaps, for plain loops.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/graph/dtypes.h"
#include "compiler/graph/scalar.h"
#include "compiler/graph/view.h"
#include "compiler/reference/long_loops.h"
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

// Whether the rows of a view along its last axis are anything but elements one after the other.
inline bool has_gaps(const FixedView& view) {
  return !view.shape.empty() && view.strides.back() != 1 && view.shape.back() > 1;
}

// The elements that a view's axes but repeated ones have together: what packed_rows() makes.
inline std::int64_t packed_count(const FixedView& view) {
  std::int64_t count = view.shape.back();
  for (std::size_t axis = 0; axis + 1 < view.shape.size(); ++axis) {
    count *=
        view.strides[axis] == 0 ? std::min<std::int64_t>(view.shape[axis], 1) : view.shape[axis];
  }
  return count;
}

// Rows of a view along its last axis, each once and without gaps, in a block of their own; `view`
// is then of that block. Where rows lie side by side, as a matrix's columns do, squares of them are
// turned one by one: every line of memory is read and written once.
template <typename To, typename From>
std::unique_ptr<To[]> packed_rows(const From* data, FixedView& view) {
  const auto last = view.shape.size() - 1;
  FixedView from = view, to = view;
  to.offset = 0;
  std::int64_t count = 1;
  for (std::size_t axis = last + 1; axis-- > 0;) {
    const bool is_repeated = axis != last && view.strides[axis] == 0;
    if (is_repeated) from.shape[axis] = std::min<std::int64_t>(from.shape[axis], 1);
    to.strides[axis] = is_repeated ? 0 : count;
    count *= from.shape[axis];
  }
  view = to;
  auto block = std::make_unique_for_overwrite<To[]>(static_cast<std::size_t>(count));
  if (count == 0) return block;
  // Along the axis `side` rows are side by side; the last one where none are.
  std::size_t side = last;
  for (std::size_t axis = 0; axis < last; ++axis) {
    if (from.strides[axis] == 1 && from.shape[axis] > 1) side = axis;
  }
  const std::int64_t rows = side == last ? 1 : from.shape[side], length = from.shape[last];
  const std::int64_t step = from.strides[last], apart = to.strides[side];
  const std::int64_t outer = count / (rows * length);
  from.shape[last] = from.shape[side] = 1;
  to.shape = from.shape;
  constexpr std::int64_t kSquare = 32;
  To square[kSquare][kSquare];
  Walk<2> walk({&from, &to});
  for (std::int64_t i = 0; i < outer; ++i, walk.next()) {
    for (std::int64_t row = 0; row < rows; row += kSquare) {
      const auto height = std::min(kSquare, rows - row);
      for (std::int64_t k = 0; k < length; k += kSquare) {
        const auto width = std::min(kSquare, length - k);
        for (std::int64_t x = 0; x < width; ++x) {
          const From* here = data + walk[0] + row + (k + x) * step;
          for (std::int64_t y = 0; y < height; ++y) {
            if constexpr (std::is_same_v<From, To>)
              square[y][x] = here[y];
            else
              square[y][x] = converted_to<From, To>(here[y]);
          }
        }
        for (std::int64_t y = 0; y < height; ++y) {
          std::copy_n(square[y], width, block.get() + walk[1] + (row + y) * apart + k);
        }
      }
    }
  }
  return block;
}

// The rows of a view along its last axis, each of them without gaps: where they lie, or in a copy
// that has each row once.
template <typename T>
class Rows {
 public:
  Rows(const T* data, const FixedView& view) : Rows(data, view, has_gaps(view)) {}
  // As copies, or not: as others of the same view lie, so that what is at an offset belongs
  // together.
  Rows(const T* data, FixedView view, bool is_copied) : data_(data), view_(std::move(view)) {
    if (is_copied) data_ = copied<T>(data);
    end_rows();
  }
  // Of values that may be of a narrower dtype: each row is widened when it is asked for, or all at
  // once where that is often and they are not too many.
  Rows(const TensorView& values, FixedView view) : view_(std::move(view)) {
    visit_graph_dtype(values.dtype(), [&]<typename From>(std::type_identity<From>) {
      constexpr std::int64_t kMany = 1 << 24, kOften = 8;
      const From* data = values.data<From>();
      if constexpr (std::is_same_v<From, T>) {
        data_ = has_gaps(view_) ? copied<T>(data) : data;
      } else {
        check(kIsFloating<T> && kIsFloating<From>, "what is widened is of floating point");
        const auto count = packed_count(view_);
        if (count <= kMany && view_.element_count() >= kOften * count) {
          data_ = copied<T>(data);
        } else {
          narrow_ = has_gaps(view_) ? copied<From>(data) : data;
          narrow_dtype_ = values.dtype();
        }
      }
    });
    end_rows();
  }
  bool is_copied() const { return copy_ != nullptr; }
  std::int64_t length() const { return length_; }
  // Of the rows' first elements: for Walk, and at().
  const FixedView& view() const { return view_; }
  const T* at(std::int64_t offset) const { return data_ + offset; }
  // Of any values: from element `begin` of a row on, `count` of them. `room` holds what is widened,
  // until it is used again.
  const T* at(std::int64_t offset, std::int64_t begin, std::int64_t count,
              std::vector<T>& room) const {
    if constexpr (kIsFloating<T>) {
      if (narrow_ != nullptr) return widened_row(offset + begin, count, room);
    }
    return at(offset) + begin;
  }

 private:
  template <typename To, typename From>
  const To* copied(const From* data) {
    std::shared_ptr<To[]> rows = packed_rows<To>(data, view_);
    copy_ = rows;
    return rows.get();
  }
  const T* widened_row(std::int64_t first, std::int64_t count, std::vector<T>& room) const {
    room.resize(static_cast<std::size_t>(count));
    visit_graph_dtype(narrow_dtype_, [&]<typename From>(std::type_identity<From>) {
      const auto* from = static_cast<const From*>(narrow_) + first;
      if constexpr (std::is_same_v<From, BFloat16> && sizeof(T) > sizeof(From)) {
        widen(from, count, room.data());
      } else {
        for (std::int64_t i = 0; i < count; ++i) {
          room[static_cast<std::size_t>(i)] = converted_to<From, T>(from[i]);
        }
      }
    });
    return room.data();
  }
  void end_rows() {
    length_ = view_.shape.back();
    view_.shape.pop_back();
    view_.strides.pop_back();
  }

  const T* data_ = nullptr;
  const void* narrow_ = nullptr;  // where that is not null, of narrow_dtype_
  DType narrow_dtype_{};
  FixedView view_;
  std::int64_t length_ = 0;
  std::shared_ptr<const void> copy_;
};

}  // namespace assay::compiler
