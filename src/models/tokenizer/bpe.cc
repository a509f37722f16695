// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/bpe.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "models/tokenizer/byte_alphabet.h"
#include "models/tokenizer/utf8.h"

namespace assay::models {
namespace {

constexpr TokenId kNoToken = Vocabulary::kNone;

std::uint64_t joint(char32_t left, char32_t right) { return std::uint64_t{left} << 32 | right; }

// Of one character's text.
char32_t only_character(std::string_view text) {
  const char* at = text.data();
  return next_character(at);
}

}  // namespace

Bpe::Bpe(Vocabulary vocabulary, const std::vector<Pair>& merges, BpeOptions options,
         std::string_view what)
    : vocabulary_(std::move(vocabulary)), options_(std::move(options)), merges_(merges.size()) {
  std::uint32_t rank = 0;
  for (const auto& [left, right] : merges) {
    const auto id = [&](const std::string& text) {
      const TokenId found = vocabulary_.find(text);
      if (found == kNoToken) {
        fail("{}[{}]: '{}' is not in the vocabulary", what, rank, fit(printable(text), 100));
      }
      return found;
    };
    if (left.empty() || right.empty()) fail("{}[{}]: a merge with nothing", what, rank);
    const TokenId first = id(left), second = id(right);
    merges_.set(first, second, {rank, id(left + right)});
    ++rank;
  }
  if (options_.unknown) unknown_ = vocabulary_.find(*options_.unknown);
  for (unsigned byte = 0; byte < 256; ++byte) {
    bytes_[byte] = vocabulary_.find(byte_characters()[byte]);
    fallback_[byte] = vocabulary_.find(fmt::format("<0x{:02X}>", byte));
  }
  for (TokenId id = 0; id < vocabulary_.id_limit(); ++id) {
    const auto text = vocabulary_.text(id);
    if (!text || text->empty()) continue;
    if (options_.byte_level) {
      if (!options_.ignore_merges) break;
      if (const auto bytes = bytes_of_characters(*text)) words_.set(*bytes, id);
    } else if (utf8_length((*text)[0]) == text->size()) {
      const char32_t c = only_character(*text);
      auto& page = characters_[c >> 8];
      if (!page) {
        page = std::make_unique<std::array<TokenId, 256>>();
        page->fill(kNoToken);
      }
      (*page)[c & 0xff] = id;
    }
  }
  if (!options_.byte_level) find_seams(merges);
}

// Between two characters that are tokens and that are neighbours in no merged token, nothing
// merges: the two sides are words of their own. The unknown token and those for bytes stand for
// other characters than their texts; where they merge, texts say nothing, and nothing is cut.
void Bpe::find_seams(const std::vector<Pair>& merges) {
  const auto stands_for_another = [&](const std::string& text) {
    const TokenId id = vocabulary_.find(text);
    return id == unknown_ || std::ranges::find(fallback_, id) != fallback_.end();
  };
  for (const auto& [left, right] : merges) {
    const bool odd = (left.size() == 6 && left[0] == '<') ||
                     (right.size() == 6 && right[0] == '<') || left == options_.unknown ||
                     right == options_.unknown;
    if (odd && (stands_for_another(left) || stands_for_another(right))) return;
    // Within either side, the merges that made it have said so, or nothing can make it.
    const char32_t last = only_character(previous_character(left.data() + left.size()));
    const char32_t first = only_character(right);
    if (last < 128 && first < 128) {
      ascii_joints_.set(last * 128 + first);
    } else {
      joints_.insert(joint(last, first));
    }
  }
  has_seams_ = true;
}

bool Bpe::joins(char32_t left, char32_t right) const {
  if (left < 128 && right < 128) return ascii_joints_[left * 128 + right];
  return joints_.contains(joint(left, right));
}

std::size_t Bpe::part(std::string_view text) const {
  if (!has_seams_ || text.empty()) return text.size();
  const char* at = text.data();
  const char* const end = at + text.size();
  char32_t left = next_character(at);
  bool is_token = token_of(left) != kNoToken;
  while (at != end) {
    const char* const here = at;
    const char32_t right = next_character(at);
    const bool next_is_token = token_of(right) != kNoToken;
    if (is_token && next_is_token && !joins(left, right)) {
      return static_cast<std::size_t>(here - text.data());
    }
    left = right;
    is_token = next_is_token;
  }
  return text.size();
}

TokenId Bpe::whole(std::string_view word) const {
  if (!options_.ignore_merges) return kNoToken;
  return options_.byte_level ? words_.find(word) : vocabulary_.find(word);
}

void Bpe::append(std::string_view word, std::vector<TokenId>& tokens, Work& work) const {
  work.word.clear();
  Unknown unknown;
  const auto known = [&](TokenId id) {
    if (unknown.pending) work.word.push_back(unknown_);
    unknown.pending = false;
    work.word.push_back(id);
  };
  if (options_.byte_level) {
    for (const char c : word) {
      const auto byte = static_cast<unsigned char>(c);
      if (bytes_[byte] != kNoToken) {
        known(bytes_[byte]);
      } else {
        append_unknown(byte_characters()[byte], work, unknown);
      }
    }
  } else {
    const char* const end = word.data() + word.size();
    for (const char* at = word.data(); at != end;) {
      const char* const begin = at;
      const TokenId id = token_of(next_character(at));
      if (id != kNoToken) {
        known(id);
      } else {
        append_unknown({begin, at}, work, unknown);
      }
    }
  }
  if (unknown.pending) work.word.push_back(unknown_);
  merges_.apply(work.word, work.merging);
  tokens.insert(tokens.end(), work.word.begin(), work.word.end());
}

void Bpe::append_unknown(std::string_view character, Work& work, Unknown& unknown) const {
  const auto byte_token = [&](char c) { return fallback_[static_cast<unsigned char>(c)]; };
  if (options_.byte_fallback &&
      std::ranges::all_of(character, [&](char c) { return byte_token(c) != kNoToken; })) {
    // A pending unknown token stays so, and comes behind the bytes: that is how tokenizers has it.
    for (const char c : character) work.word.push_back(byte_token(c));
    return;
  }
  if (!options_.unknown) return;
  if (unknown_ == kNoToken) {
    fail("the unknown token is not in the vocabulary: '{}'",
         fit(printable(*options_.unknown), 100));
  }
  if (unknown.pending && !options_.fuse_unknown) work.word.push_back(unknown_);
  unknown.pending = true;
}

}  // namespace assay::models
