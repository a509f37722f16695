// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "models/jinja/numbers.h"
#include "models/jinja/operations.h"
#include "models/tokenizer/characters.h"
#include "models/tokenizer/utf8.h"

namespace assay::models::jinja {
namespace {

// What repr() writes as it is; all else as an escape.
bool is_seen(char32_t c) {
  static const CharacterTest kUnseen = [] {
    Characters unseen;
    for (const char* name : {"C", "Z"}) unseen = unseen | characters_of_category(name);
    return CharacterTest(unseen);
  }();
  return c < 0x80 ? c >= 0x20 && c < 0x7f : !kUnseen(c);
}

std::string quoted(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string result(1, quote);
  const char* at = text.data();
  while (at < text.data() + text.size()) {
    const char32_t c = next_character(at);
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      (result += '\\') += static_cast<char>(c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      result += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (is_seen(c)) {
      append_utf8(result, c);
    } else {
      const auto number = static_cast<std::uint32_t>(c);
      result += c < 0x100     ? fmt::format("\\x{:02x}", number)
                : c < 0x10000 ? fmt::format("\\u{:04x}", number)
                              : fmt::format("\\U{:08x}", number);
    }
  }
  return result += quote;
}

void append(const Value& value, std::string& out, Work& work) {
  work.spend(16);
  if (value.text()) {
    work.spend(value.text()->size() * 4);
    out += quoted(*value.text());
  } else if (value.list()) {
    const bool is_tuple = value.list()->is_tuple;
    out += is_tuple ? '(' : '[';
    bool is_first = true;
    for (const auto& item : value.list()->items) {
      if (!std::exchange(is_first, false)) out += ", ";
      append(item, out, work);
    }
    if (is_tuple && value.list()->items.size() == 1) out += ',';
    out += is_tuple ? ')' : ']';
  } else if (value.dict()) {
    out += '{';
    bool is_first = true;
    for (const auto& [key, item] : value.dict()->items) {
      if (!std::exchange(is_first, false)) out += ", ";
      append(key, out, work);
      out += ": ";
      append(item, out, work);
    }
    out += '}';
  } else if (value.is_undefined()) {
    out += "Undefined";
  } else {
    out += printed(value, work);
  }
}

}  // namespace

std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  char buffer[40];
  const double size = std::fabs(number);
  // Shortest digits that read back; with an exponent where Python has one.
  const bool is_plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, number,
                    is_plain ? std::chars_format::fixed : std::chars_format::scientific)
          .ptr;
  std::string text(buffer, end);
  if (is_plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string represented(const Value& value, Work& work) {
  std::string text;
  append(value, text, work);
  work.spend(text.size());
  return text;
}

std::string printed(const Value& value, Work& work) {
  if (value.is_undefined()) return {};
  if (value.is_none()) return "None";
  if (value.text()) {
    work.spend(value.text()->size());
    return *value.text();
  }
  if (const auto* truth = value.as<bool>()) return *truth ? "True" : "False";
  if (const auto* integer = value.as<std::int64_t>()) return fmt::format("{}", *integer);
  if (const auto* number = value.as<double>()) return number_text(*number);
  if (value.list() || value.dict()) return represented(value, work);
  work.refuse(fmt::format("{} cannot be printed", value.kind()));
}

}  // namespace assay::models::jinja
