// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/added_tokens.h"

#include <algorithm>

#include "models/tokenizer/utf8.h"

namespace assay::models {
namespace {

constexpr std::uint32_t kNoAddedToken = 0xffffffff;

const CharacterTest& is_word_character() {
  // Joiners belong to words here, though not to \\w of the patterns.
  static const CharacterTest kTest(word_characters() | Characters({{0x200c, 0x200d}}));
  return kTest;
}
const CharacterTest& is_space() {
  static const CharacterTest kTest(white_space());
  return kTest;
}
std::uint64_t edge(std::uint32_t node, char byte) {
  return std::uint64_t{node} << 8 | static_cast<unsigned char>(byte);
}

std::size_t without_spaces_before(std::string_view text, std::size_t end) {
  while (end > 0) {
    const char* const before = previous_character(text.data() + end);
    const char* at = before;
    if (!is_space()(next_character(at))) break;
    end = static_cast<std::size_t>(before - text.data());
  }
  return end;
}

std::size_t behind_spaces(std::string_view text, std::size_t begin) {
  const char* at = text.data() + begin;
  const char* const end = text.data() + text.size();
  while (at != end) {
    const char* next = at;
    if (!is_space()(next_character(next))) break;
    at = next;
  }
  return static_cast<std::size_t>(at - text.data());
}

}  // namespace

bool AddedTokenFinder::add(std::string_view form, const AddedToken& token) {
  if (token_of_node_.empty()) token_of_node_.push_back(kNoAddedToken);
  std::uint32_t node = 0;
  for (const char byte : form) {
    const auto next = static_cast<std::uint32_t>(token_of_node_.size());
    const auto [child, is_new] = children_.emplace(edge(node, byte), next);
    if (is_new) token_of_node_.push_back(kNoAddedToken);
    if (node == 0) first_[static_cast<unsigned char>(byte)] = child->second;
    node = child->second;
  }
  if (token_of_node_[node] != kNoAddedToken) return false;
  token_of_node_[node] = static_cast<std::uint32_t>(tokens_.size());
  tokens_.push_back(token);
  return true;
}

std::optional<AddedTokenFinder::Found> AddedTokenFinder::longest_at(std::string_view text) const {
  std::optional<Found> longest;
  std::uint32_t node = first_[static_cast<unsigned char>(text[0])];
  for (std::size_t length = 1; node != 0; ++length) {
    if (token_of_node_[node] != kNoAddedToken) longest = Found{length, token_of_node_[node]};
    if (length == text.size()) break;
    const auto child = children_.find(edge(node, text[length]));
    node = child == children_.end() ? 0 : child->second;
  }
  return longest;
}

bool AddedTokenFinder::is_single_word(std::string_view text, std::size_t begin,
                                      std::size_t end) const {
  const char* before = begin == 0 ? nullptr : previous_character(text.data() + begin);
  const char* behind = end == text.size() ? nullptr : text.data() + end;
  return (before == nullptr || !is_word_character()(next_character(before))) &&
         (behind == nullptr || !is_word_character()(next_character(behind)));
}

void AddedTokenFinder::split(std::string_view text, const Use& use) const {
  std::size_t done = 0;  // all before it was handed on
  for (std::size_t at = 0; !tokens_.empty() && at < text.size();) {
    if (first_[static_cast<unsigned char>(text[at])] == 0) {
      ++at;
      continue;
    }
    const auto found = longest_at(text.substr(at));
    if (!found) {
      ++at;
      continue;
    }
    const auto& token = tokens_[found->token];
    std::size_t begin = at, end = at + found->length;
    at = end;
    if (token.single_word && !is_single_word(text, begin, end)) continue;
    if (token.left_strip) begin = std::max(without_spaces_before(text, begin), done);
    if (token.right_strip) end = behind_spaces(text, end);
    // Where the token before took this one's white space along, and that was all of it, it is gone.
    if (begin >= end) continue;
    if (done < begin) use(std::nullopt, text.substr(done, begin - done));
    use(token.id, {});
    done = end;
  }
  if (done < text.size()) use(std::nullopt, text.substr(done));
}

}  // namespace assay::models
