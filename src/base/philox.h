// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counter-based random numbers: Philox4x64 with ten rounds, as NumPy's `Philox` bit generator.
//
// Every provider in every language generates its inputs from this stream, so that no input is ever
// shipped. A stream is a key; value i of a stream depends on (key, i) alone, so any part can be
// generated at any time by any thread.

#include <array>
#include <cstdint>
#include <string_view>

namespace assay {

__extension__ typedef unsigned __int128 Uint128;

class Philox {
 public:
  using Block = std::array<std::uint64_t, 4>;

  // The stream of `numpy.random.Philox(key=[key0, key1])`.
  explicit Philox(std::uint64_t key0, std::uint64_t key1 = 0) : key_{key0, key1} {}

  // Raw output i of the stream: what the (i+1)-th `random_raw()` of NumPy returns.
  std::uint64_t operator[](std::uint64_t i) const {
    return block(i / 4)[static_cast<std::size_t>(i % 4)];
  }

  // Raw outputs 4b … 4b+3. NumPy increments its counter before the first block, hence b + 1 inside.
  Block block(std::uint64_t b) const;

 private:
  std::array<std::uint64_t, 2> key_;
};

// The second key word of a named input ("a", "weights"): the first eight bytes of the name, little
// endian. Short, and computable in one line of any language.
std::uint64_t stream_key(std::string_view name);

// Maps a raw output to a double in [0, 1): its upper 53 bits times 2^-53. Exact.
constexpr double unit_interval(std::uint64_t raw) {
  return static_cast<double>(raw >> 11) * 0x1.0p-53;
}

// Maps a raw output to a double in [low, high): unit * (high - low) + low, each operation rounded
// once, never fused (Assay is compiled with -ffp-contract=off).
constexpr double uniform(std::uint64_t raw, double low, double high) {
  const double scaled = unit_interval(raw) * (high - low);
  return scaled + low;
}

// Maps a raw output to an integer in [0, bound): the upper half of the 128-bit product raw * bound.
constexpr std::uint64_t uniform_below(std::uint64_t raw, std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<Uint128>(raw) * bound) >> 64);
}

}  // namespace assay
