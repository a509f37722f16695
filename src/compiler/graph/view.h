// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How an operand is read: a shape, and for each axis how far apart neighbours lie in the elements
// of what is read, which has no gaps. Moving things about is only ever a change of the view.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/dimension.h"

namespace assay::compiler {

// Functions throw UserError that names the operation, the shape and the offending value.
struct View {
  std::vector<Dim> shape, strides;
  Dim offset = 0;

  // Row-major, without gaps.
  static View contiguous(std::vector<Dim> shape);
  bool operator==(const View&) const = default;

  std::size_t rank() const { return shape.size(); }
  // Whether it reads elements 0, 1, 2, … in order. (Axes of extent 1 may have any stride.)
  bool is_contiguous() const;
  bool is_broadcast(std::size_t axis) const { return strides.at(axis).is(0); }

  // Axis i of the result is axis `order[i]`.
  View permute(const std::vector<std::size_t>& order) const;
  // A new axis before `axis` along which everything repeats.
  View insert(std::size_t axis, const Dim& extent) const;
  // An axis of extent 1 made longer by repeating it.
  View expand(std::size_t axis, const Dim& extent) const;
  // Without an axis of extent 1.
  View squeeze(std::size_t axis) const;
  // An axis of extent a·inner as two, a and inner.
  View split(std::size_t axis, const Dim& inner) const;
  // Axes `axis` and `axis + 1` as one, where one stride can serve both.
  std::optional<View> merge(std::size_t axis) const;
  // Elements begin, begin + step, … below `end`, with a constant step of at least 1. What is not
  // constant is trusted here and looked at when symbols have values.
  View slice(std::size_t axis, const Dim& begin, const Dim& end, std::int64_t step = 1) const;
  // Back to front.
  View reverse(std::size_t axis) const;
  // Another shape of as many elements, where strides allow it.
  std::optional<View> reshape(const std::vector<Dim>& to) const;

  // "[s, 128] strides [128, 1] offset 0"
  std::string to_string() const;
};

// A view whose symbols have values.
struct FixedView {
  std::vector<std::int64_t> shape, strides;
  std::int64_t offset = 0;
  std::int64_t element_count() const;
};
// Throws UserError for a negative extent, and where an element outside 0 … `elements` − 1 would be
// read.
FixedView fixed(const View& view, const Bindings& values, std::int64_t elements);

}  // namespace assay::compiler
