// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/element_bound.h"

#include <algorithm>

#include "compiler/graph/dtypes.h"
#include "tensor/roundoff.h"

namespace assay::compiler {
namespace {

constexpr double kAnything = std::numeric_limits<double>::infinity();
// Units in the last place that each operation may be off by itself.
constexpr double kOwnUnits = 2, kFunctionUnits = 8;
// What is less than normal may be lost, or rounded coarsely.
constexpr double kLost = 0x1p-8;

}  // namespace

ElementBound::ElementBound(DType dtype) : dtype_(dtype), unit_(unit_roundoff(dtype)) {
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
double ElementBound::rounded(double bound, double result) const {
  if (std::isnan(bound)) return kAnything;
  if (bound == 0 || !std::isfinite(result)) return bound;
  const double total = bound + kOwnUnits * unit_ * std::abs(result) + least_ * kLost;
  return std::abs(result) + total >= greatest_ ? kAnything : total;
}

double ElementBound::of(Op op, std::span<const Number> x, double result) const {
  for (const auto& number : x) {
    if (number.is_open() && op != Op::kSelect) return kAnything;
  }
  const bool is_exact =
      std::ranges::all_of(x, [](const Number& number) { return number.is_exact(); });
  switch (op) {
    case Op::kCast:
      return is_exact ? 0 : of_cast(x[0], result);
    case Op::kAdd:
      if (is_exact) return 0;
      return rounded(x[0].bound + x[1].bound, result);
    case Op::kMul:
      // A product that is summed in a wider type does not overflow.
      if (std::isinf(result) && std::isfinite(x[0].value) && std::isfinite(x[1].value) &&
          is_floating(dtype_)) {
        return kAnything;
      }
      return is_exact ? 0 : of_product(x[0], x[1], result);
    case Op::kMax:
      return std::max(x[0].bound, x[1].bound);
    case Op::kMod:
      return is_exact ? 0 : kAnything;
    case Op::kLess:
      return is_exact || std::abs(x[0].value - x[1].value) > x[0].bound + x[1].bound ? 0
                                                                                     : kAnything;
    case Op::kSelect:
      return x[0].is_open() ? kAnything : x[x[0].value != 0 ? 1 : 2].bound;
    default:
      return of_function(op, x[0], result);
  }
}

double ElementBound::of_cast(const Number& x, double result) const {
  if (is_floating(dtype_)) return rounded(x.bound, result);
  if (dtype_ == DType::kBool) return std::abs(x.value) > x.bound ? 0 : kAnything;
  return std::trunc(x.value - x.bound) == std::trunc(x.value + x.bound) ? 0 : kAnything;
}

double ElementBound::of_product(const Number& a, const Number& b, double result) const {
  // Infinity times what may be 0, or of either sign.
  for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)}) {
    if (std::isinf(x.value)) return std::abs(y.value) > y.bound ? 0 : kAnything;
    if (std::isnan(x.value)) return 0;
  }
  return rounded(std::abs(a.value) * b.bound + std::abs(b.value) * a.bound + a.bound * b.bound,
                 result);
}

// Monotone where they are defined: the ends say how far.
double ElementBound::of_function(Op op, const Number& x, double result) const {
  if (std::isnan(result)) {
    // sqrt and log2 of what may be 0 or above.
    return x.is_exact() || x.value + x.bound < 0 ? 0 : kAnything;
  }
  const double own = kFunctionUnits * std::max(unit_, 0x1p-53) * std::abs(result) + 2 * least_;
  if (op == Op::kSin) return rounded(std::min(x.bound, 2.0) + own + unit_, result);
  const auto f = [op](double v) {
    switch (op) {
      case Op::kExp2:
        return std::exp2(v);
      case Op::kLog2:
        return std::log2(v);
      case Op::kSqrt:
        return std::sqrt(v);
      default:
        return 1 / v;
    }
  };
  const double low = x.value - x.bound, high = x.value + x.bound;
  if (op == Op::kRecip && low <= 0 && high >= 0 && !x.is_exact()) return kAnything;
  if ((op == Op::kSqrt || op == Op::kLog2) && low < 0 && !x.is_exact()) return kAnything;
  if (!std::isfinite(result)) return x.is_exact() || !std::isfinite(x.value) ? 0 : kAnything;
  if (std::isinf(x.value)) return 0;  // exp2(−∞), 1 / ∞
  const double spread = std::max(std::abs(f(low) - f(x.value)), std::abs(f(high) - f(x.value)));
  return rounded(spread + own, result);
}

// Each of n additions is off by a unit of what has come together by then.
double ElementBound::of_sum(std::int64_t length, double size, double bound, double result) const {
  if (unit_ == 0) return bound == 0 ? 0 : kAnything;
  const double unit = std::min(unit_, 0x1p-24);
  // In another order it may overflow, or not.
  const double most = unit_ == 0x1p-53 ? greatest_ : std::min(greatest_, 3.4e38);
  if (!(size < most)) return kAnything;
  // What is summed may have been rounded to nothing.
  const double lost = size > 0 ? least_ * unit : 0;
  return rounded(bound + static_cast<double>(length + 1) * (unit * size + lost), result);
}

double ElementBound::of_sum_of_products(std::int64_t length, double size, double bound,
                                        double result) const {
  const double own =
      bound == 0 ? 0 : kOwnUnits * unit_ * size + static_cast<double>(length) * least_ * kLost;
  return of_sum(length, size, bound + own, result);
}

}  // namespace assay::compiler
