// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/jinja/characters.h"

#include <algorithm>

#include "models/tokenizer/utf8.h"

namespace assay::models::jinja {
namespace {

template <typename IsOff>
std::string_view stripped_before(std::string_view text, const IsOff& is_off) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    const char* next = at;
    if (!is_off(next_character(next))) break;
    at = next;
  }
  return {at, static_cast<std::size_t>(end - at)};
}

template <typename IsOff>
std::string_view stripped_behind(std::string_view text, const IsOff& is_off) {
  const char* end = text.data() + text.size();
  while (end > text.data()) {
    const char* const last = previous_character(end);
    const char* at = last;
    if (!is_off(next_character(at))) break;
    end = last;
  }
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

}  // namespace

bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
         c == 0x205f || c == 0x3000;
}

std::string_view without_space_before(std::string_view text) {
  return stripped_before(text, is_white_space);
}
std::string_view without_space_behind(std::string_view text) {
  return stripped_behind(text, is_white_space);
}
std::string_view without_before(std::string_view text, std::u32string_view set) {
  return stripped_before(text, [set](char32_t c) { return set.find(c) != set.npos; });
}
std::string_view without_behind(std::string_view text, std::u32string_view set) {
  return stripped_behind(text, [set](char32_t c) { return set.find(c) != set.npos; });
}

std::u32string characters_of(std::string_view text) {
  std::u32string characters;
  const char* at = text.data();
  while (at < text.data() + text.size()) characters += next_character(at);
  return characters;
}

std::string text_of(std::u32string_view characters) {
  std::string text;
  for (const auto c : characters) append_utf8(text, c);
  return text;
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

}  // namespace assay::models::jinja
