// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far off one element may be, given how far off the elements are that it is computed of.

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "compiler/graph/graph.h"

namespace assay::compiler {

// A value and how far off it may be; infinite: anything goes.
struct Number {
  double value = 0, bound = 0;
  bool is_exact() const { return bound == 0; }
  bool is_open() const { return std::isinf(bound); }
};

class ElementBound {
 public:
  // Of results of that dtype.
  explicit ElementBound(DType dtype);

  // Any primitive that computes element by element.
  double of(Op op, std::span<const Number> x, double result) const;
  double of_product(const Number& a, const Number& b, double result) const;

  // Of a sum in any order of `length` terms, whose sizes add up to `size` and bounds to `bound`.
  double of_sum(std::int64_t length, double size, double bound, double result) const;
  // The same for products of which some factors are not exact: what `bound` misses is that each
  // product is rounded.
  double of_sum_of_products(std::int64_t length, double size, double bound, double result) const;

 private:
  double rounded(double bound, double result) const;
  double of_cast(const Number& x, double result) const;
  double of_function(Op op, const Number& x, double result) const;

  DType dtype_;
  double unit_ = 0;      // half the distance of neighbours, relative
  double greatest_ = 0;  // finite
  double least_ = 0;     // normal
};

}  // namespace assay::compiler
