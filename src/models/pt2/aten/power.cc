// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/aten/power.h"

#include <cmath>

#include "compiler/graph/dtypes.h"
#include "models/pt2/aten/forms.h"

namespace assay::models::pt2 {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

namespace {

// x^n by squaring.
GraphTensor whole_power(const GraphTensor& x, std::int64_t n) {
  if (n == 0) return x.like(1).broadcast_to(x.shape());
  auto result = x.like(1), square = x;
  bool is_first = true;
  for (auto left = n; left > 0; left /= 2) {
    if (left % 2 == 1) result = is_first ? square : result * square;
    if (left % 2 == 1) is_first = false;
    if (left > 1) square = square * square;
  }
  return result;
}
// Of integers, which wrap around: by squaring, as far as the exponent's lower sixteen bits go. From
// there on 0 and ±1 stay what they are, and even numbers are 0.
GraphTensor integer_power(const GraphTensor& base, const GraphTensor& exponent) {
  constexpr int kBits = 16;
  const auto is_odd_of = [](const GraphTensor& n) { return equal(mod(n, n.like(2)), n.like(1)); };
  const auto is_odd = is_odd_of(exponent);
  const auto one = base.like(1), zero = base.like(0);
  const auto most = select(is_odd, exponent.like(0xFFFF), exponent.like(0xFFFE));
  auto left = max(min(exponent, most), exponent.like(0)).cast(DType::kF64);
  auto power = select(is_odd_of(left), base, one), square = base;
  for (int bit = 1; bit < kBits; ++bit) {
    square = square * square;
    left = rounded_down(left * 0.5);
    power = select(is_odd_of(left), power * square, power);
  }
  // Of 1/x the whole part.
  const auto of_minus_one = select(is_odd, -one, one);
  const auto inverse = select(equal(base, one), one, select(equal(base, -one), of_minus_one, zero));
  return select(less(exponent, exponent.like(0)), inverse, power);
}

}  // namespace

// Of floating point in f64: the logarithm's error counts as often as the exponent says.
GraphTensor raised(const GraphTensor& base, const GraphTensor& exponent) {
  if (!is_floating(base.dtype())) return integer_power(base, exponent);
  const auto x = base.cast(DType::kF64), y = exponent.cast(DType::kF64);
  const auto size = exp2(y * log2(absolute(x)));
  const auto is_whole = equal(rounded_down(y), y), is_odd = equal(mod(y, y.like(2)), y.like(1));
  const auto negative = select(is_whole, select(is_odd, -size, size), size.like(NAN));
  const auto power = select(less(x, x.like(0)), negative, size);
  const auto one = equal(y, y.like(0)) + equal(x, x.like(1));
  return select(one, power.like(1), power).cast(base.dtype());
}

std::optional<GraphTensor> raised_simply(const GraphTensor& base, double exponent) {
  constexpr double kMostFactors = 64;
  if (exponent == 0.5) return sqrt(base);
  if (exponent == -0.5) return recip(sqrt(base));
  if (exponent == std::floor(exponent) && std::abs(exponent) <= kMostFactors) {
    const auto size = whole_power(base, static_cast<std::int64_t>(std::abs(exponent)));
    if (exponent >= 0) return size;
    if (is_floating(base.dtype())) return recip(size);
  }
  return std::nullopt;
}

}  // namespace assay::models::pt2
