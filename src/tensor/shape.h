// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "tensor/axes.h"

namespace assay {

// The extents of a tensor, outermost first. Every extent is at least 0, the rank at most 64, and
// the product of the extents (zeros counted as ones) at most 2^58: sizes in bytes and the strides
// of any layout without gaps then fit 63 bits, also where an extent is 0.
class Shape {
 public:
  static constexpr std::size_t kMaxRank = 64;
  static constexpr std::int64_t kMaxElements = std::int64_t{1} << 58;

  // A scalar: rank 0, one element.
  Shape() = default;
  // Throws UserError that names the extents when a rule above is broken.
  explicit Shape(Axes extents);
  explicit Shape(const std::vector<std::int64_t>& extents) : Shape(Axes(extents)) {}
  Shape(std::initializer_list<std::int64_t> extents) : Shape(Axes(extents)) {}

  std::size_t rank() const { return extents_.size(); }
  std::int64_t operator[](std::size_t axis) const { return extents_[axis]; }
  const Axes& extents() const { return extents_; }
  std::int64_t element_count() const { return element_count_; }

  // "512x256"; a scalar is "scalar".
  std::string to_string() const;

  bool operator==(const Shape& other) const { return extents_ == other.extents_; }

 private:
  Axes extents_;
  std::int64_t element_count_ = 1;
};

// Elements between neighbours along each axis where the last axis is contiguous: {3,4,5} gives
// {20,5,1}. Axes of extent 0 count as 1.
Axes row_major_strides(const Shape& shape);
// The same with the first axis contiguous (Fortran order): {3,4,5} gives {1,3,12}.
Axes column_major_strides(const Shape& shape);

}  // namespace assay
