// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizer/byte_map.h"

namespace assay::models {

using TokenId = std::uint32_t;

// Tokens by their text, and texts by their id. Ids may leave gaps.
class Vocabulary {
 public:
  static constexpr TokenId kNone = ByteMap::kNone;

  // Neither the text nor the id is there yet.
  void add(std::string_view text, TokenId id);

  TokenId find(std::string_view text) const { return ids_.find(text); }  // kNone
  // Nothing where no token has this id.
  std::optional<std::string_view> text(TokenId id) const {
    if (id >= texts_.size() || !texts_[id]) return std::nullopt;
    return *texts_[id];
  }
  std::size_t size() const { return ids_.size(); }
  // One more than the greatest.
  std::size_t id_limit() const { return texts_.size(); }

 private:
  ByteMap ids_;
  std::vector<std::optional<std::string>> texts_;
};

}  // namespace assay::models
