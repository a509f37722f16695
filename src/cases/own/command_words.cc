// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/command_words.h"

#include "base/error.h"

namespace assay::cases::own {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

enum class Unknown { kIsRefused, kStays };

std::string replaced(const std::string& word, const std::map<std::string, std::string>& values,
                     Unknown unknown) {
  std::string result;
  std::size_t at = 0;
  while (at < word.size()) {
    std::size_t end = at + 1;
    while (word[at] == '{' && end < word.size() && is_word_character(word[end])) ++end;
    const bool is_place = word[at] == '{' && end > at + 1 && end < word.size() && word[end] == '}';
    if (!is_place) {
      result += word[at++];
      continue;
    }
    const auto name = word.substr(at + 1, end - at - 1);
    const auto found = values.find(name);
    if (found == values.end() && unknown == Unknown::kStays) {
      result += word[at++];
      continue;
    }
    if (found == values.end()) {
      std::string known;
      for (const auto& [other, value] : values) known += (known.empty() ? "" : ", ") + other;
      fail("nothing is called {{{}}} (known: {})", name, known);
    }
    result += found->second;
    at = end + 1;
  }
  return result;
}

}  // namespace

std::map<std::string, std::string> point_words(const Json& point) {
  std::map<std::string, std::string> words;
  for (const auto& [name, value] : point.items()) {
    words[name] = value.is_string() ? value.get<std::string>() : canonical_json(value);
  }
  return words;
}

std::string with_words_replaced(const std::string& word,
                                const std::map<std::string, std::string>& values) {
  return replaced(word, values, Unknown::kIsRefused);
}

std::string with_known_replaced(const std::string& text,
                                const std::map<std::string, std::string>& values) {
  return replaced(text, values, Unknown::kStays);
}

}  // namespace assay::cases::own
