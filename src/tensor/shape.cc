// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/shape.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace assay {

Shape::Shape(Axes extents) : extents_(std::move(extents)) {
  if (rank() > kMaxRank) fail("a shape has at most {} axes, got {}", kMaxRank, rank());
  std::int64_t product = 1;
  for (const std::int64_t extent : extents_) {
    if (extent < 0) fail("a shape has no negative extents, got {}", to_string());
    const std::int64_t factor = std::max<std::int64_t>(extent, 1);
    if (__builtin_mul_overflow(product, factor, &product) || product > kMaxElements) {
      fail("shape with too many elements: {}", to_string());
    }
    if (extent == 0) element_count_ = 0;
  }
  if (element_count_ != 0) element_count_ = product;
}

std::string Shape::to_string() const {
  if (extents_.empty()) return "scalar";
  return fmt::format("{}", fmt::join(extents_, "x"));
}

Axes row_major_strides(const Shape& shape) {
  Axes strides(shape.rank());
  std::int64_t step = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  return strides;
}

Axes column_major_strides(const Shape& shape) {
  Axes strides(shape.rank());
  std::int64_t step = 1;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  return strides;
}

}  // namespace assay
