// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far off one element may be, given how far off the elements are that it is computed of.
//
// Two things are known of an error. `bound` is what it cannot exceed: roundings that all point one
// way. `deviation` is what roundings come to that point anywhere: their squares add up. After a few
// products in a row a worst case allows anything, while right programs stay within a few
// deviations; so no bound is ever more than kDeviations of them.

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "compiler/graph/graph.h"

namespace assay::compiler {

// Right programs differ by more than chance: one adds in another order, another has a function that
// is off by some units. So it is more than chance would need.
inline constexpr double kDeviations = 32;

struct Error {
  double bound = 0;  // infinite: anything goes
  double deviation = 0;
  bool operator==(const Error&) const = default;
};
// A value and its error.
struct Number {
  double value = 0;
  Error error;
  bool is_exact() const { return error.bound == 0; }
  bool is_open() const { return std::isinf(error.bound); }
  bool is_nan() const { return is_exact() && std::isnan(value); }
};
inline constexpr Error kAnything{std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::infinity()};

// Of terms t that are added up: Σ |t|, Σ t², and of their errors Σ bound and Σ deviation².
struct TermSums {
  double size = 0, squares = 0, bound = 0, deviation_squares = 0;
  bool has_nan = false;  // for certain
  // Infinities and NaN are none of a sum's size.
  void add(const Number& term) {
    has_nan = has_nan || term.is_nan();
    bound += term.error.bound;
    deviation_squares += term.error.deviation * term.error.deviation;
    if (!std::isfinite(term.value)) return;
    size += std::abs(term.value);
    squares += term.value * term.value;
  }
};

// What adds up terms. Products of two bf16 in f32 may be the work of a processor's unit for them
// (kernels/bf16/pair_units.h), on any machine: an addition may then be off by a whole unit in the
// last place, as rounding to odd is, and a product or partial sum below the least normal number be
// lost. Nothing else is allowed for: factors below normal count, infinities and NaN come out.
enum class SumsOf : std::uint8_t { kTerms, kBf16Products };

class ElementBound {
 public:
  // Of results of that dtype.
  explicit ElementBound(DType dtype, SumsOf sums = SumsOf::kTerms);

  // Any primitive that computes element by element.
  Error of(Op op, std::span<const Number> x, double result) const;
  Error of_product(const Number& a, const Number& b, double result) const;
  Error of_quotient(const Number& a, const Number& b, double result) const;
  // x + x or x · x: one error counts twice.
  Error of_twice(Op op, const Number& x, double result) const;
  // A sum, in any order, of `length` terms.
  Error of_sum(std::int64_t length, const TermSums& terms, double result) const;
  // What is missing in the errors of terms that are products: each product is rounded.
  TermSums with_rounded_products(std::int64_t length, TermSums terms) const;

 private:
  Error rounded(Error error, double result) const;
  Error of_cast(const Number& x, double result) const;
  Error of_function(Op op, const Number& x, double result) const;

  DType dtype_;
  SumsOf sums_;
  double unit_;          // half the distance of neighbours, relative
  double greatest_ = 0;  // finite
  double least_ = 0;     // normal
};

}  // namespace assay::compiler
