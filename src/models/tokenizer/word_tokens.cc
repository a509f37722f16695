// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/word_tokens.h"

namespace assay::models {

void WordTokens::append(std::string_view word, std::vector<TokenId>& tokens) {
  const TokenId whole = bpe_->whole(word);
  if (whole != Vocabulary::kNone) {
    tokens.push_back(whole);
    return;
  }
  while (!word.empty()) {
    const std::size_t length = bpe_->part(word);
    append_part(word.substr(0, length), tokens);
    word.remove_prefix(length);
  }
}

void WordTokens::append_part(std::string_view part, std::vector<TokenId>& tokens) {
  if (part.size() > kLongestKept) {
    bpe_->append(part, tokens, work_);
    return;
  }
  const std::uint32_t number = numbers_.find(part);
  if (number != ByteMap::kNone) {
    const auto& kept = kept_[number];
    const auto begin = tokens_.begin() + kept.begin;
    tokens.insert(tokens.end(), begin, begin + kept.count);
    return;
  }
  if (kept_.size() == kMostKept) {
    numbers_.clear();
    kept_.clear();
    tokens_.clear();
  }
  const std::size_t before = tokens.size();
  bpe_->append(part, tokens, work_);
  numbers_.set(part, static_cast<std::uint32_t>(kept_.size()));
  kept_.push_back({static_cast<std::uint32_t>(tokens_.size()),
                   static_cast<std::uint32_t>(tokens.size() - before)});
  tokens_.insert(tokens_.end(), tokens.begin() + static_cast<std::ptrdiff_t>(before), tokens.end());
}

}  // namespace assay::models
