// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/philox.h"

namespace assay::cases::einsum {

// Whole numbers drawn one after the other: a function of the seed.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : stream_(seed) {}
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(unit_interval(stream_[next_++]) * static_cast<double>(bound));
  }
  void shuffle(std::string& letters) {
    for (std::size_t i = letters.size(); i > 1; --i) std::swap(letters[i - 1], letters[below(i)]);
  }

 private:
  Philox stream_;
  std::uint64_t next_ = 0;
};

}  // namespace assay::cases::einsum
