// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace assay::semiring::simd {

// √ Σ_l d(l)² over l < terms, whatever the size of the differences: they are scaled by the power of
// two, hence exactly, that brings the largest to [1, 2), and summed in blocks of `block`. What a
// square loses then is below 10⁻³⁰⁰ of the sum. NaN if a difference is, else +∞ if one is infinite
// or the distance is too large for double.
template <class Difference>
double scaled_distance(std::int64_t terms, std::int64_t block, const Difference& d) noexcept {
  double largest = 0;
  for (std::int64_t l = 0; l < terms; ++l) {
    const double size = std::abs(d(l));
    if (!(size <= largest)) largest = size;  // NaN too, and what follows it
    if (std::isnan(largest)) return largest;
  }
  if (largest == 0 || std::isinf(largest)) return largest;
  const int exponent = std::ilogb(largest);
  // In two factors: 2^−exponent itself may be too large.
  const double half = std::ldexp(1.0, -exponent / 2),
               rest = std::ldexp(1.0, -exponent + exponent / 2);
  double sum = 0;
  for (std::int64_t begin = 0; begin < terms; begin += block) {
    double part = 0;
    for (std::int64_t l = begin; l < std::min(terms, begin + block); ++l) {
      const double scaled = d(l) * half * rest;
      part += scaled * scaled;
    }
    sum += part;
  }
  return std::ldexp(std::sqrt(sum), exponent);
}

}  // namespace assay::semiring::simd
