// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/element_bound.h"

#include <algorithm>
#include <array>
#include <numbers>

#include "compiler/graph/dtypes.h"
#include "tensor/roundoff.h"

namespace assay::compiler {
namespace {

// Units in the last place that each operation may be off by itself.
constexpr double kOwnUnits = 2, kFunctionUnits = 8;
// What is less than normal may be lost, or rounded coarsely.
constexpr double kLost = 0x1p-8;
// The deviation of something that is anywhere within 1 of the right value.
constexpr double kEvenly = 1 / std::numbers::sqrt3;

// Squares of what is smaller are nothing.
constexpr double kSquareable = 0x1p-480;
double together(double a, double b) {
  a = std::abs(a), b = std::abs(b);
  return std::max(a, b) < kSquareable ? a + b : std::sqrt(a * a + b * b);
}

// What a small change of x comes to behind a function. One factor after the other: the square of a
// result may be less than any number.
double carried(double change, Op op, double x, double result) {
  switch (op) {
    case Op::kExp2:
      return change * result * std::numbers::ln2;
    case Op::kLog2:
      return change / std::abs(x) / std::numbers::ln2;
    case Op::kSqrt:
      return change / result * 0.5;
    case Op::kRecip:
      return change * std::abs(result) * std::abs(result);
    default:
      return change;
  }
}

double value_of(Op op, double x) {
  switch (op) {
    case Op::kExp2:
      return std::exp2(x);
    case Op::kLog2:
      return std::log2(x);
    case Op::kSqrt:
      return std::sqrt(x);
    default:
      return 1 / x;
  }
}

}  // namespace

ElementBound::ElementBound(DType dtype, SumsOf sums)
    : dtype_(dtype), sums_(sums), unit_(unit_roundoff(dtype)) {
  switch (dtype) {
    case DType::kF64:
      greatest_ = std::numeric_limits<double>::max(), least_ = 0x1p-1022;
      return;
    case DType::kF32:
      greatest_ = std::numeric_limits<float>::max(), least_ = 0x1p-126;
      return;
    case DType::kBF16:
      greatest_ = 0x1.FEp127, least_ = 0x1p-126;
      return;
    case DType::kF16:
      greatest_ = 65504, least_ = 0x1p-14;
      return;
    default:
      return;
  }
}

// Rounded once more, unless it was exact all the way; near an overflow anything may happen.
Error ElementBound::rounded(Error error, double result) const {
  if (std::isnan(error.bound)) return kAnything;
  if (error.bound == 0 || !std::isfinite(result)) return error;
  const double lost = least_ * kLost, size = std::abs(result);
  error.bound += kOwnUnits * unit_ * size + lost;
  error.deviation = together(error.deviation, kEvenly * unit_ * size + lost);
  // Not where it is not a number, or infinite.
  if (error.deviation * kDeviations < error.bound) error.bound = kDeviations * error.deviation;
  return size + error.bound >= greatest_ ? kAnything : error;
}

Error ElementBound::of(Op op, std::span<const Number> x, double result) const {
  // Whatever the other operand is.
  const bool keeps_nan = op == Op::kAdd || op == Op::kMul || op == Op::kDiv || op == Op::kMax;
  if (keeps_nan && std::ranges::any_of(x, [](const Number& n) { return n.is_nan(); })) return {};
  for (const auto& number : x) {
    if (number.is_open() && op != Op::kSelect) return kAnything;
  }
  const bool is_exact =
      std::ranges::all_of(x, [](const Number& number) { return number.is_exact(); });
  switch (op) {
    case Op::kCast:
      return is_exact ? Error{} : of_cast(x[0], result);
    case Op::kAdd:
      if (is_exact) return {};
      return rounded({x[0].error.bound + x[1].error.bound,
                      together(x[0].error.deviation, x[1].error.deviation)},
                     result);
    case Op::kMul:
      // A product that is summed in a wider type does not overflow.
      if (std::isinf(result) && std::isfinite(x[0].value) && std::isfinite(x[1].value) &&
          is_floating(dtype_)) {
        return kAnything;
      }
      return is_exact ? Error{} : of_product(x[0], x[1], result);
    case Op::kDiv:
      return is_exact ? Error{} : of_quotient(x[0], x[1], result);
    case Op::kMax:
      return {std::max(x[0].error.bound, x[1].error.bound),
              std::max(x[0].error.deviation, x[1].error.deviation)};
    case Op::kMod:
      return is_exact ? Error{} : kAnything;
    case Op::kLess: {
      const double apart = std::abs(x[0].value - x[1].value);
      return is_exact || apart > x[0].error.bound + x[1].error.bound ? Error{} : kAnything;
    }
    case Op::kSelect:
      return x[0].is_open() ? kAnything : x[x[0].value != 0 ? 1 : 2].error;
    default:
      return of_function(op, x[0], result);
  }
}

Error ElementBound::of_cast(const Number& x, double result) const {
  if (is_floating(dtype_)) return rounded(x.error, result);
  const double off = x.error.bound;
  const bool is_sure = dtype_ == DType::kBool
                           ? std::abs(x.value) > off
                           : std::trunc(x.value - off) == std::trunc(x.value + off);
  return is_sure ? Error{} : kAnything;
}

Error ElementBound::of_product(const Number& a, const Number& b, double result) const {
  // Infinity times what may be 0, or of either sign.
  for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)}) {
    if (std::isinf(x.value)) return std::abs(y.value) > y.error.bound ? Error{} : kAnything;
    if (std::isnan(x.value)) return {};
  }
  return rounded({std::abs(a.value) * b.error.bound + std::abs(b.value) * a.error.bound +
                      a.error.bound * b.error.bound,
                  together(a.value * b.error.deviation, b.value * a.error.deviation)},
                 result);
}

// (a + α) / (b + β) − a / b = (α − β a / b) / (b + β).
Error ElementBound::of_quotient(const Number& a, const Number& b, double result) const {
  if (std::isnan(a.value) || std::isnan(b.value)) return {};
  // Infinite is what is certainly so: of either sign where the divisor may be.
  if (std::isinf(b.value)) return {};
  const double size = std::abs(b.value), least = size - b.error.bound;
  if (!(least > 0)) return kAnything;
  if (std::isinf(a.value)) return {};
  if (!std::isfinite(result)) return kAnything;
  const double of_divisor = std::abs(a.value) / size;
  return rounded({(a.error.bound + of_divisor * b.error.bound) / least,
                  together(a.error.deviation / size, of_divisor * (b.error.deviation / size))},
                 result);
}

Error ElementBound::of_twice(Op op, const Number& x, double result) const {
  if (x.is_open()) return kAnything;
  if (x.is_exact() || !std::isfinite(x.value) || !std::isfinite(result)) {
    return of(op, std::array{x, x}, result);
  }
  const double factor = op == Op::kAdd ? 2 : 2 * std::abs(x.value);
  const double square = op == Op::kAdd ? 0 : x.error.bound * x.error.bound;
  return rounded({factor * x.error.bound + square, factor * x.error.deviation}, result);
}

// Monotone where they are defined: the ends say how far.
Error ElementBound::of_function(Op op, const Number& x, double result) const {
  const double off = x.error.bound;
  if (std::isnan(result)) {
    // sqrt and log2 of what may be 0 or above.
    return x.is_exact() || x.value + off < 0 ? Error{} : kAnything;
  }
  const double own = kFunctionUnits * std::max(unit_, 0x1p-53) * std::abs(result) + 2 * least_;
  if (op == Op::kSin) {
    return rounded({std::min(off, 2.0) + own + unit_,
                    together(std::min(x.error.deviation, 2.0), kEvenly * (own + unit_))},
                   result);
  }
  const double low = x.value - off, high = x.value + off;
  if (op == Op::kRecip && low <= 0 && high >= 0 && !x.is_exact()) return kAnything;
  if ((op == Op::kSqrt || op == Op::kLog2) && low < 0 && !x.is_exact()) return kAnything;
  if (!std::isfinite(result)) {
    return x.is_exact() || !std::isfinite(x.value) ? Error{} : kAnything;
  }
  if (std::isinf(x.value)) return {};  // exp2(−∞), 1 / ∞
  const double at = value_of(op, x.value);
  const double spread =
      std::max(std::abs(value_of(op, low) - at), std::abs(value_of(op, high) - at));
  return rounded(
      {spread + own, together(carried(x.error.deviation, op, x.value, result), kEvenly * own)},
      result);
}

// Each of n additions is off by a unit of what has come together by then. If all terms are off by
// the same part of themselves, so is the sum; if each is off by itself, their squares add up.
Error ElementBound::of_sum(std::int64_t length, const TermSums& terms, double result) const {
  if (unit_ == 0) return terms.bound == 0 ? Error{} : kAnything;
  if (terms.has_nan) return {};
  const bool is_paired = sums_ == SumsOf::kBf16Products;
  const double unit = std::min(unit_, 0x1p-24) * (is_paired ? 2 : 1);
  // In another order it may overflow, or not.
  const double most = unit_ == 0x1p-53 ? greatest_ : std::min(greatest_, 3.4e38);
  if (!(terms.size < most)) return kAnything;
  // What is summed may have been rounded to nothing.
  const double count = static_cast<double>(length) + 1;
  const double lost = terms.size > 0 ? count * least_ * (is_paired ? 1 : unit) : 0;
  const bool is_tiny = terms.deviation_squares < kSquareable * kSquareable;
  const double apart = is_tiny ? terms.bound : std::sqrt(terms.deviation_squares);
  const double alike = terms.squares > 0 ? apart / std::sqrt(terms.squares) * result : apart;
  // Partial sums are as large as the sum where terms do not cancel, else about the root of it.
  const double own = unit * (std::sqrt(count) * std::abs(result) + terms.size) * kEvenly + lost;
  return rounded(
      {terms.bound + count * unit * terms.size + lost, together(together(apart, alike), own)},
      result);
}

TermSums ElementBound::with_rounded_products(std::int64_t length, TermSums terms) const {
  if (terms.bound == 0) return terms;
  const double unit = kEvenly * unit_;
  terms.bound += kOwnUnits * unit_ * terms.size + static_cast<double>(length) * least_ * kLost;
  terms.deviation_squares += unit * unit * terms.squares;
  return terms;
}

}  // namespace assay::compiler
