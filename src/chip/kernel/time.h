// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulated time and the rates that turn amounts into it.
//
// Time is an integer, so that sums are exact and a result is the same on every machine. A duration
// is an amount over a rate, rounded up to a whole picosecond: hardware never finishes early.
// Rates are integers per second (50 GiB/s is exactly 53 687 091 200 B/s), quotients are taken in
// 128 bits. 1 GB is 10^9 bytes.

#include <cstdint>

#include "base/error.h"

namespace assay::chip {

using Time = std::int64_t;  // picoseconds since the start of the simulation, or a duration

inline constexpr Time kNanosecond = 1000;
inline constexpr Time kSecond = 1'000'000'000'000;
// The end of simulated time, about 53 days: far enough below overflow that sums of two are safe.
inline constexpr Time kEndOfTime = std::int64_t{1} << 62;

// A time in nanoseconds, for people and stored results.
constexpr double to_ns(Time time) { return static_cast<double>(time) / 1e3; }
constexpr double to_seconds(Time time) { return static_cast<double>(time) / 1e12; }

// A positive number of things per second: bytes, multiply-accumulates, cycles.
class Rate {
 public:
  Rate() = default;
  // Throws InternalError unless positive; files and flags are checked where they are read.
  explicit Rate(std::int64_t per_second) : per_second_(per_second) {
    check(per_second > 0, "a rate is positive");
  }

  constexpr std::int64_t per_second() const { return per_second_; }
  constexpr double giga() const { return static_cast<double>(per_second_) / 1e9; }

  // How long `amount` >= 0 things take, rounded up. Throws UserError beyond kEndOfTime.
  Time duration(std::int64_t amount) const {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(amount) * static_cast<Wide>(kSecond);
    const Wide rate = static_cast<Wide>(per_second_);
    const Wide time = (product + rate - 1) / rate;
    if (amount < 0 || time >= static_cast<Wide>(kEndOfTime)) [[unlikely]] {
      fail("a duration does not fit into simulated time: {} at {} per second", amount, per_second_);
    }
    return static_cast<Time>(time);
  }

  friend bool operator==(Rate, Rate) = default;

 private:
  std::int64_t per_second_ = 1;
};

}  // namespace assay::chip
