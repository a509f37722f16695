// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tokens of words, with a memory: most words of a text have been there before.

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/tokenizer/bpe.h"
#include "models/tokenizer/byte_map.h"

namespace assay::models {

class WordTokens {
 public:
  explicit WordTokens(const Bpe& bpe) : bpe_(&bpe) {}

  // As Bpe::append(), of a word that is not empty.
  void append(std::string_view word, std::vector<TokenId>& tokens);

 private:
  // What is longer hardly comes again, and at so many words the memory begins anew.
  static constexpr std::size_t kLongestKept = 128, kMostKept = 1 << 17;

  void append_part(std::string_view part, std::vector<TokenId>& tokens);

  struct Kept {
    std::uint32_t begin, count;
  };
  const Bpe* bpe_;
  Bpe::Work work_;
  ByteMap numbers_;  // of words, in kept_
  std::vector<Kept> kept_;
  std::vector<TokenId> tokens_;
};

}  // namespace assay::models
