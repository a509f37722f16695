// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/command_words.h"

#include <utility>

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

std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool is_open = false;  // a word has begun, if only by its quotes
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == '\'' || (quote == '"' && c != '\\')) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\\' && i + 1 < command.size()) {
      const char next = command[++i];
      if (quote == '"' && next != '"' && next != '\\' && next != '$' && next != '`') word += c;
      word += next;
      is_open = true;
    } else if (c == '\'' || c == '"') {
      quote = c;
      is_open = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (is_open) words.push_back(std::exchange(word, ""));
      is_open = false;
    } else {
      word += c;
      is_open = true;
    }
  }
  if (quote != 0) fail("a quote that does not end, in the command: '{}'", command);
  if (is_open) words.push_back(word);
  return words;
}

}  // namespace assay::cases::own
