// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/password.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace assay {

std::string_view name_before(std::string_view text, std::size_t equals) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  auto end = equals;
  while (end > 0 && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0) --end;
  auto begin = end;
  while (begin > 0 && is_word(static_cast<unsigned char>(text[begin - 1]))) --begin;
  return text.substr(begin, end - begin);
}

bool is_called_like(std::string_view name, std::span<const std::string_view> parts) {
  std::string small(name);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(parts, [&](auto part) { return small.find(part) != small.npos; });
}

bool gives_value_to(std::string_view text, std::span<const std::string_view> parts) {
  for (auto at = text.find('='); at != text.npos; at = text.find('=', at + 1)) {
    if (is_called_like(name_before(text, at), parts)) return true;
  }
  return false;
}

}  // namespace assay
