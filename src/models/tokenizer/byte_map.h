// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A number for each of many short byte strings, which are kept in one piece of memory: half a
// million tokens, or the words of a text, without an allocation each.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace assay::models {

class ByteMap {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  // The number of this key; kNone where it has none.
  std::uint32_t find(std::string_view key) const {
    if (slots_.empty()) return kNone;
    const Slot& slot = slots_[place_of(key, hash_of(key))];
    return slot.value;
  }
  // Gives the key a number, or another one. Keys of 4 GiB together, at most. value < kNone.
  void set(std::string_view key, std::uint32_t value);
  std::size_t size() const { return size_; }
  void clear();

 private:
  struct Slot {
    std::uint32_t hash = 0, offset = 0, length = 0, value = kNone;
  };

  static std::uint32_t hash_of(std::string_view key) {
    std::uint64_t hash = key.size() * kFactor;
    const char* at = key.data();
    std::size_t left = key.size();
    for (; left >= 8; left -= 8, at += 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, at, 8);
      hash = mixed(hash ^ eight);
    }
    std::uint64_t rest = 0;
    for (std::size_t i = 0; i < left; ++i) {
      rest = rest << 8 | static_cast<unsigned char>(at[i]);
    }
    return static_cast<std::uint32_t>(mixed(hash ^ rest) >> 16);
  }
  static std::uint64_t mixed(std::uint64_t value) {
    value *= kFactor;
    return value ^ value >> 29;
  }
  static constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;

  // Where the key is, or the free slot where it would be.
  std::size_t place_of(std::string_view key, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t place = hash & mask;; place = (place + 1) & mask) {
      const Slot& slot = slots_[place];
      if (slot.value == kNone) return place;
      if (slot.hash == hash && slot.length == key.size() &&
          std::memcmp(keys_.data() + slot.offset, key.data(), key.size()) == 0) {
        return place;
      }
    }
  }
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::string keys_;
  std::size_t size_ = 0;
};

}  // namespace assay::models
