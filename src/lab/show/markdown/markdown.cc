// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/markdown/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/text.h"

namespace assay::lab {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0; }

}  // namespace

std::string markdown_text(std::string_view text, int width) {
  const std::string plain = fit(printable(text), width);
  std::string result;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    const std::string_view rest = std::string_view(plain).substr(i);
    switch (c) {
      case '_': {
        // Inside a word it is only a character; names are full of it.
        const bool inside =
            i > 0 && i + 1 < plain.size() && is_word(plain[i - 1]) && is_word(plain[i + 1]);
        result += inside ? "_" : "\\_";
        break;
      }
      case ':':
        // Some renderers make links of bare addresses.
        result += rest.starts_with("://") ? "&#58;" : ":";
        break;
      case '.':
        result += i >= 3 && std::string_view(plain).substr(i - 3, 3) == "www" ? "&#46;" : ".";
        break;
      case '@':
        result += "&#64;";
        break;
      default:
        if (std::string_view("\\`*[]|~$#!").find(c) != std::string_view::npos) result += '\\';
        result += markup_escaped(c);
    }
  }
  return result;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const auto& cell : cells) line += fmt::format(" {} |", cell);
  return line + "\n";
}

std::string markdown_table(const std::vector<std::string>& titles, std::string_view alignment,
                           const std::vector<std::vector<std::string>>& rows) {
  check(titles.size() == alignment.size(), "every column of a table has an alignment");
  std::string table = markdown_row(titles) + "|";
  for (const char side : alignment) table += side == 'r' ? "---:|" : "---|";
  table += "\n";
  for (const auto& row : rows) table += markdown_row(row);
  return table;
}

std::string markdown_code(const std::vector<std::string>& lines) {
  std::size_t longest = 0, here = 0;
  std::string body;
  for (const auto& line : lines) body += printable(line) + "\n";
  for (const char c : body) {
    here = c == '`' ? here + 1 : 0;
    longest = std::max(longest, here);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  return fmt::format("{}sh\n{}{}\n", fence, body, fence);
}

std::string shell_word(std::string_view text) {
  const auto plain = [](char c) {
    return (std::isalnum(static_cast<unsigned char>(c)) != 0 && (c & 0x80) == 0) ||
           std::string_view("._-+,/:=@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace assay::lab
