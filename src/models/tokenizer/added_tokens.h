// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tokens that are found in a text before anything else is done to it: special ones
// ("<|im_start|>"), and others that somebody added. Leftmost first, of those the longest.

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/tokenizer/characters.h"
#include "models/tokenizer/vocabulary.h"

namespace assay::models {

struct AddedToken {
  TokenId id = 0;
  std::string content;
  bool special = false;      // left out of decoded text on request
  bool normalized = true;    // looked for in the normalised text, in its own normalised form
  bool single_word = false;  // not within a word
  bool left_strip = false, right_strip = false;  // takes the white space beside it along
};

// Looks for tokens in a text, each in the form that is given. Time: that of looking at each byte,
// and the length of a token wherever one might begin.
class AddedTokenFinder {
 public:
  static constexpr std::size_t kLongest = 1024;  // bytes of a token

  // No two of one form: returns false where this one was there.
  bool add(std::string_view form, const AddedToken& token);

  // Calls `use` for each piece of the text in order: an added token (then the text says nothing),
  // or text without any.
  using Use = std::function<void(std::optional<TokenId> token, std::string_view text)>;
  void split(std::string_view text, const Use& use) const;

 private:
  struct Found {
    std::size_t length;
    std::uint32_t token;
  };
  std::optional<Found> longest_at(std::string_view text) const;
  bool is_single_word(std::string_view text, std::size_t begin, std::size_t end) const;

  std::vector<AddedToken> tokens_;
  std::vector<std::uint32_t> token_of_node_;  // a trie; node 0 is its root
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
  std::array<std::uint32_t, 256> first_{};  // the root's
};

}  // namespace assay::models
