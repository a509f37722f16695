// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/byte_map.h"

#include <limits>

#include "base/error.h"

namespace assay::models {

void ByteMap::set(std::string_view key, std::uint32_t value) {
  check(value != kNone, "the number of a key is not kNone");
  if (slots_.size() < 2 * (size_ + 1)) grow();
  const auto hash = hash_of(key);
  Slot& slot = slots_[place_of(key, hash)];
  if (slot.value == kNone) {
    check(keys_.size() + key.size() <= std::numeric_limits<std::uint32_t>::max(),
          "the keys of a ByteMap take at most 4 GiB");
    slot = {hash, static_cast<std::uint32_t>(keys_.size()), static_cast<std::uint32_t>(key.size())};
    keys_ += key;
    ++size_;
  }
  slot.value = value;
}

void ByteMap::clear() {
  slots_.assign(slots_.size(), {});
  keys_.clear();
  size_ = 0;
}

void ByteMap::grow() {
  const auto before = std::move(slots_);
  slots_.assign(before.empty() ? 16 : 2 * before.size(), {});
  const std::size_t mask = slots_.size() - 1;
  for (const auto& slot : before) {
    if (slot.value == kNone) continue;
    std::size_t place = slot.hash & mask;
    while (slots_[place].value != kNone) place = (place + 1) & mask;
    slots_[place] = slot;
  }
}

}  // namespace assay::models
