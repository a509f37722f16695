// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far off sums of products may be (element_bound.h), for all sums of a matrix product at once.

#include <span>

#include "compiler/reference/walk.h"
#include "compiler/verify/element_bound.h"

namespace assay::compiler {

// One factor: rows that are multiplied element by element and summed, and how far off they are.
// Errors lie as their elements do: a row of them is found where its elements are.
template <typename T>
class FactorRows {
 public:
  // Values of T, or of a narrower dtype. `errors` is null where all elements are exact.
  FactorRows(const TensorView& values, const Error* errors, const FixedView& view)
      : values_(values, view),
        errors_(errors, errors == nullptr ? FixedView{{0}, {1}} : view,
                errors != nullptr && values_.is_copied()),
        is_exact_(errors == nullptr) {}
  bool is_exact() const { return is_exact_; }
  std::int64_t length() const { return values_.length(); }
  // Of the rows' first elements.
  const FixedView& view() const { return values_.view(); }
  // From element `begin` on, `count` of them; `room` holds what is widened, until it is used again.
  const T* values(std::int64_t at, std::int64_t begin, std::int64_t count,
                  std::vector<T>& room) const {
    return values_.at(at, begin, count, room);
  }
  // Null where all are exact.
  const Error* errors(std::int64_t at) const { return is_exact_ ? nullptr : errors_.at(at); }

 private:
  Rows<T> values_;
  Rows<Error> errors_;
  bool is_exact_;
};

// Of Σ_k x[k]·y[k] for each element of the factors' common shape: `results` are those sums as the
// interpreter has them. T is of floating point.
template <typename T>
void product_errors(const FactorRows<T>& x, const FactorRows<T>& y, const ElementBound& bound,
                    std::span<const T> results, std::span<Error> errors);

}  // namespace assay::compiler
