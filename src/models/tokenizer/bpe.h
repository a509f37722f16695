// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Byte-pair encoding: a word's characters (or bytes) are tokens, and neighbours are merged. It
// agrees with PyPI's tokenizers in what it does with characters that are no tokens, too.

#include <array>
#include <bitset>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "models/tokenizer/merges.h"
#include "models/tokenizer/vocabulary.h"

namespace assay::models {

struct BpeOptions {
  bool byte_level = false;     // words are bytes, written in the vocabulary by the byte alphabet
  bool byte_fallback = false;  // a character that is no token becomes <0x…> for each of its bytes
  bool ignore_merges = false;  // a word that is a token is that token, whatever the merges say
  bool fuse_unknown = false;   // neighbouring unknown characters become one unknown token
  std::optional<std::string> unknown;  // what the rest becomes; else it is left out
};

class Bpe {
 public:
  using Pair = std::pair<std::string, std::string>;

  // Throws UserError that names `what` and the pair where one of the three is no token.
  Bpe(Vocabulary vocabulary, const std::vector<Pair>& merges, BpeOptions options,
      std::string_view what);

  struct Work {
    std::vector<TokenId> word;
    Merges::Work merging;
  };
  // The tokens of a word, behind those that are there. Valid UTF-8. Throws UserError where
  // the unknown token is needed and is no token.
  void append(std::string_view word, std::vector<TokenId>& tokens, Work& work) const;

  // The token that this word is as a whole, where merges are ignored; kNone.
  TokenId whole(std::string_view word) const;

  // Where `text` can be cut without a token noticing: bytes from the beginning to the first place
  // across which no merge reaches. The whole of it where words are bytes.
  std::size_t part(std::string_view text) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  void find_seams(const std::vector<Pair>& merges);
  TokenId token_of(char32_t c) const {
    const auto& page = characters_[c >> 8];
    return page ? (*page)[c & 0xff] : Vocabulary::kNone;
  }
  bool joins(char32_t left, char32_t right) const;
  // What becomes of a character that is no token.
  struct Unknown {
    bool pending = false;  // the unknown token will follow
  };
  void append_unknown(std::string_view character, Work& work, Unknown& unknown) const;

  Vocabulary vocabulary_;
  BpeOptions options_;
  Merges merges_;
  std::array<TokenId, 256> bytes_;     // words are bytes
  std::array<TokenId, 256> fallback_;  // <0x00> to <0xFF>
  TokenId unknown_ = Vocabulary::kNone;
  ByteMap words_;  // tokens by their bytes, where merges are ignored and words are bytes
  std::array<std::unique_ptr<std::array<TokenId, 256>>, 0x1100> characters_;  // by pages
  bool has_seams_ = false;
  std::bitset<128 * 128> ascii_joints_;
  std::unordered_set<std::uint64_t> joints_;  // characters that some merge brings together
};

}  // namespace assay::models
