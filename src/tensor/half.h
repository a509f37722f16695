// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sixteen-bit floating-point values: IEEE binary16 and bfloat16.
//
// Storage types with conversions, no arithmetic: kernels widen, compute and narrow once. Narrowing
// rounds to nearest, ties to even, from float and *directly* from double: going through float
// rounds twice and is wrong for values just beside a tie. Overflow gives an infinity, a NaN stays a
// NaN (quiet, with the upper bits of its payload).

#include <bit>
#include <cstdint>

namespace assay {
namespace half_detail {

// The bits of the value nearest to x in a format of one sign bit, `kExponentBits` and
// `kFractionBits`, laid out like an IEEE format.
template <int kExponentBits, int kFractionBits>
constexpr std::uint16_t narrow(double x) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr std::uint64_t kInfinity = ((std::uint64_t{1} << kExponentBits) - 1) << kFractionBits;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto sign = static_cast<std::uint64_t>(bits >> 63) << (kExponentBits + kFractionBits);
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (exponent == 1024) {
    if (fraction == 0) return static_cast<std::uint16_t>(sign | kInfinity);
    const std::uint64_t quiet = std::uint64_t{1} << (kFractionBits - 1);
    return static_cast<std::uint16_t>(sign | kInfinity | quiet |
                                      (fraction >> (52 - kFractionBits)));
  }
  if (exponent > kBias) return static_cast<std::uint16_t>(sign | kInfinity);
  // Subnormals of the target share the exponent of its smallest normal. Those of double lie far
  // below half of the smallest value of either format: they become zero with the rest.
  const int scale = exponent < 1 - kBias ? 1 - kBias : exponent;
  const int shift = 52 - kFractionBits + (scale - exponent);
  if (shift > 53) return static_cast<std::uint16_t>(sign);
  const std::uint64_t significand = fraction | (std::uint64_t{1} << 52);
  // Adding just under half a unit, or half if the last bit kept is odd, rounds without a branch.
  const std::uint64_t odd = (significand >> shift) & 1;
  const std::uint64_t under_half = (std::uint64_t{1} << (shift - 1)) - 1;
  const std::uint64_t rounded = (significand + under_half + odd) >> shift;
  // The leading bit of a normal significand, and a carry out of rounding, add to the exponent.
  const auto biased = static_cast<std::uint64_t>(scale + kBias - 1) << kFractionBits;
  return static_cast<std::uint16_t>(sign | (biased + rounded));
}

}  // namespace half_detail

// IEEE binary16: 5 exponent bits, 10 fraction bits, largest finite value 65504.
struct Half {
  std::uint16_t bits = 0;

  constexpr Half() = default;
  constexpr explicit Half(double x) : bits(half_detail::narrow<5, 10>(x)) {}
  constexpr explicit Half(float x) : Half(static_cast<double>(x)) {}  // float to double is exact
  static constexpr Half from_bits(std::uint16_t bits) {
    Half value;
    value.bits = bits;
    return value;
  }

  constexpr explicit operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1fu;
    const std::uint32_t fraction = bits & 0x3ffu;
    if (exponent == 0) {
      const float magnitude = static_cast<float>(fraction) * 0x1.0p-24f;
      return sign != 0 ? -magnitude : magnitude;
    }
    const std::uint32_t widened = exponent == 31 ? 255 : exponent - 15 + 127;
    return std::bit_cast<float>(sign | (widened << 23) | (fraction << 13));
  }
  constexpr explicit operator double() const { return static_cast<float>(*this); }
};

// bfloat16: the upper half of a float; 8 exponent bits, 7 fraction bits.
struct BFloat16 {
  std::uint16_t bits = 0;

  constexpr BFloat16() = default;
  constexpr explicit BFloat16(double x) : bits(half_detail::narrow<8, 7>(x)) {}
  // The same value as the constructor from double, in four integer operations.
  constexpr explicit BFloat16(float x) {
    const auto wide = std::bit_cast<std::uint32_t>(x);
    const bool is_nan = (wide & 0x7fffffffu) > 0x7f800000u;
    bits = is_nan ? static_cast<std::uint16_t>((wide >> 16) | 0x40u)
                  : static_cast<std::uint16_t>((wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16);
  }
  static constexpr BFloat16 from_bits(std::uint16_t bits) {
    BFloat16 value;
    value.bits = bits;
    return value;
  }

  constexpr explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  constexpr explicit operator double() const { return static_cast<float>(*this); }
};

}  // namespace assay
