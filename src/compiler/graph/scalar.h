// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One element: how it is widened to be computed with, and narrowed again.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tensor/half.h"

namespace assay::compiler {

template <typename T>
inline constexpr bool kIsFloating =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// Floating point in f64, integers in 64 bits, bool as itself.
template <typename T>
using Wide = std::conditional_t<kIsFloating<T>, double,
                                std::conditional_t<std::is_same_v<T, bool>, bool, std::int64_t>>;

template <typename T>
Wide<T> widened(T value) {
  return static_cast<Wide<T>>(value);
}
// Floating point rounded to nearest even; integers by their low bits.
template <typename T>
T narrowed(Wide<T> value) {
  return static_cast<T>(value);
}

// Integers wrap around.
inline std::int64_t wrapped_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t wrapped_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// The remainder with the divisor's sign.
inline double remainder_of(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline std::int64_t remainder_of(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return 0;
  const auto r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// NaN where either is.
template <typename W>
W greatest_of(W a, W b) {
  if constexpr (std::is_floating_point_v<W>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
  }
  return a < b ? b : a;
}

// To an integer type: towards zero, to the nearest there is, NaN to 0.
template <typename To>
To integer_of(double value) {
  if (std::isnan(value)) return 0;
  // The least is a power of two and exact; the first value above the greatest is one too.
  constexpr double kLeast = static_cast<double>(std::numeric_limits<To>::min());
  if (value <= kLeast) return std::numeric_limits<To>::min();
  if (value >= -kLeast) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

// An integer as f64 for further rounding: what does not fit leaves the last bit odd, so that it is
// on the right side of every tie of a narrower type.
inline double sticky_double(std::int64_t value) {
  const double nearest = static_cast<double>(value);
  if (std::abs(nearest) < 0x1p53) return nearest;
  __extension__ using Exact = __int128;
  const Exact error = Exact{value} - static_cast<Exact>(nearest);
  if (error == 0) return nearest;
  auto bits = std::bit_cast<std::uint64_t>(nearest);
  if ((bits & 1) != 0) return nearest;
  // Even, and not exact: the odd neighbour on the side of the true value.
  const bool is_larger_in_size = (error > 0) == (value > 0);
  bits += is_larger_in_size ? 1 : std::uint64_t{0} - 1;
  return std::bit_cast<double>(bits);
}

template <typename From, typename To>
To converted_to(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return widened(value) != 0;
  } else if constexpr (kIsFloating<From> && !kIsFloating<To>) {
    return integer_of<To>(widened(value));
  } else if constexpr (std::is_same_v<From, std::int64_t> && kIsFloating<To> &&
                       !std::is_same_v<To, double>) {
    return narrowed<To>(sticky_double(value));
  } else {
    return narrowed<To>(static_cast<Wide<To>>(widened(value)));
  }
}

}  // namespace assay::compiler
