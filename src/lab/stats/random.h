// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A sequence of random numbers for permutations and simulated noise: Philox read from
// its beginning, so that a seed that is stored beside a result gives the result again anywhere.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/philox.h"

namespace assay::lab {

class RandomStream {
 public:
  // Streams of different names (at most eight bytes) are independent for the same seed.
  RandomStream(std::uint64_t seed, std::string_view name) : philox_(seed, stream_key(name)) {}

  std::uint64_t raw() {
    if (used_ == block_.size()) {
      block_ = philox_.block(next_block_++);
      used_ = 0;
    }
    return block_[used_++];
  }
  double unit() { return unit_interval(raw()); }  // in [0, 1)
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(uniform_below(raw(), bound));
  }
  double normal();  // mean 0, variance 1; Box and Muller, two raw numbers each

 private:
  Philox philox_;
  Philox::Block block_{};
  std::size_t used_ = 4;
  std::uint64_t next_block_ = 0;
};

// Every order of the items equally likely (Fisher and Yates).
template <typename T>
void shuffle(std::span<T> items, RandomStream& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace assay::lab
