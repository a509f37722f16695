// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Drawn inputs for the tests of this engine: the same for the same key.

#include <cstdint>
#include <initializer_list>

#include "base/philox.h"

namespace assay::chip {

class Random {
 public:
  explicit Random(std::uint64_t key) : stream_(key) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(
                     uniform_below(stream_[next_++], static_cast<std::uint64_t>(high - low + 1)));
  }
  bool coin() { return between(0, 1) == 1; }
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<std::int64_t>(values.size()) - 1)];
  }

 private:
  Philox stream_;
  std::uint64_t next_ = 0;
};

}  // namespace assay::chip
