// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The errors of exp and log in f32 over a set of inputs, for tests.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/math/exp_log.h"

namespace assay::kernels {

// The distance between a float and the true value, in units in the last place of that value
// (denormals have those of the smallest normal numbers). Infinite where exactly one is NaN, or one
// overflows although the other is not even near it.
inline double ulps(float actual, double expected) {
  if (std::isnan(expected) || std::isnan(actual)) {
    return std::isnan(expected) && std::isnan(actual) ? 0 : INFINITY;
  }
  if (static_cast<double>(actual) == expected) return 0;
  if (std::isinf(expected) || std::isinf(actual)) {
    // Infinity in place of what rounds to it, up to 2 ulp early.
    const double largest = 0x1.fffffep+127;
    const bool near = std::isinf(actual) && std::abs(expected) >= largest * (1 - 0x1p-23) &&
                      std::signbit(actual) == std::signbit(expected);
    return near ? 1 : INFINITY;
  }
  const int exponent = std::max(std::ilogb(expected), -126);
  return std::abs(static_cast<double>(actual) - expected) / std::ldexp(1.0, exponent - 23);
}

struct WorstErrors {
  double exp = 0, log = 0;
  float exp_at = 0, log_at = 0;
};

// Inputs whose bits are begin, begin + stride, … below end, on the instruction set in use.
inline WorstErrors worst_errors(std::uint64_t begin, std::uint64_t end, std::uint64_t stride) {
  constexpr std::size_t kChunk = 1 << 14;
  WorstErrors worst;
  std::vector<float> x, y;
  while (begin < end) {
    x.clear();
    for (; x.size() < kChunk && begin < end; begin += stride) {
      x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(begin)));
    }
    y.resize(x.size());
    exp(std::span<const float>(x), y);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = std::exp(static_cast<double>(x[i]));
      if (static_cast<float>(expected) == y[i]) continue;  // as near as can be: most are
      const double error = ulps(y[i], expected);
      if (error > worst.exp) worst.exp = error, worst.exp_at = x[i];
    }
    log(std::span<const float>(x), y);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = std::log(static_cast<double>(x[i]));
      if (static_cast<float>(expected) == y[i]) continue;
      const double error = ulps(y[i], expected);
      if (error > worst.log) worst.log = error, worst.log_at = x[i];
    }
  }
  return worst;
}

}  // namespace assay::kernels
