// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/jinja/methods.h"
#include "models/jinja/numbers.h"
#include "models/jinja/operations.h"
#include "models/tokenizer/utf8.h"

namespace assay::models::jinja {
namespace {

class JsonWriter {
 public:
  JsonWriter(int indent, bool is_ascii, bool sorts_keys, Work& work)
      : indent_(indent), is_ascii_(is_ascii), sorts_keys_(sorts_keys), work_(work) {}

  std::string run(const Value& value) {
    write(value, 0);
    work_.spend(out_.size());
    return std::move(out_);
  }

 private:
  void write(const Value& value, int level) {
    work_.spend(16);
    if (value.text()) return write_text(*value.text());
    if (value.list()) {
      const auto& items = value.list()->items;
      return write_members('[', ']', items.size(), level,
                           [&](std::size_t i) { write(items[i], level + 1); });
    }
    if (value.dict()) {
      auto items = value.dict()->items;
      if (sorts_keys_) {
        std::ranges::stable_sort(items, [this](const auto& a, const auto& b) {
          return is_less(a.first, b.first, work_);
        });
      }
      return write_members('{', '}', items.size(), level, [&](std::size_t i) {
        write_text(key_text(items[i].first));
        out_ += ": ";
        write(items[i].second, level + 1);
      });
    }
    if (value.is_none() || value.is_number()) {
      out_ += scalar_text(value);
      return;
    }
    work_.refuse(fmt::format("{} is no JSON", value.kind()));
  }

  std::string scalar_text(const Value& value) {
    if (value.is_none()) return "null";
    if (const auto* truth = value.as<bool>()) return *truth ? "true" : "false";
    if (const auto* real = value.as<double>()) {
      if (std::isnan(*real)) return "NaN";
      if (std::isinf(*real)) return *real > 0 ? "Infinity" : "-Infinity";
      return number_text(*real);
    }
    return printed(value, work_);
  }
  std::string key_text(const Value& key) {
    if (key.text()) return *key.text();
    if (!key.is_none() && !key.is_number()) work_.refuse("a key that JSON does not have");
    return scalar_text(key);
  }

  template <typename Write>
  void write_members(char open, char close, std::size_t count, int level, const Write& member) {
    out_ += open;
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out_ += indent_ < 0 ? ", " : ",";
      new_line(level + 1);
      member(i);
    }
    if (count > 0) new_line(level);
    out_ += close;
  }
  void new_line(int level) {
    if (indent_ < 0) return;
    const auto size = static_cast<std::size_t>(indent_) * static_cast<std::size_t>(level);
    work_.spend(size + 1);
    (out_ += '\n').append(size, ' ');
  }

  void write_text(std::string_view text) {
    work_.spend(text.size() * 2);
    out_ += '"';
    const char* at = text.data();
    while (at < text.data() + text.size()) {
      const char* const begin = at;
      const char32_t c = next_character(at);
      static constexpr std::string_view kSpecial = "\"\\\n\r\t\b\f";
      static constexpr std::string_view kLetters = "\"\\nrtbf";
      const auto special = c < 0x80 ? kSpecial.find(static_cast<char>(c)) : kSpecial.npos;
      if (special != kSpecial.npos) {
        (out_ += '\\') += kLetters[special];
      } else if (c < 0x20 || (is_ascii_ && c > 0x7f && c < 0x10000)) {
        out_ += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
      } else if (is_ascii_ && c >= 0x10000) {
        const auto rest = static_cast<std::uint32_t>(c) - 0x10000;
        out_ += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
      } else {
        out_.append(begin, at);
      }
    }
    out_ += '"';
  }

  const int indent_;
  const bool is_ascii_, sorts_keys_;
  Work& work_;
  std::string out_;
};

}  // namespace

std::string json_text(const Value& value, int indent, bool is_ascii, bool sorts_keys, Work& work) {
  return JsonWriter(indent, is_ascii, sorts_keys, work).run(value);
}

}  // namespace assay::models::jinja
