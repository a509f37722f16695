// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/jinja/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cwctype>

#include "models/jinja/characters.h"
#include "models/jinja/operations.h"
#include "models/tokenizer/utf8.h"

namespace assay::models::jinja {
namespace {

using Method = Value (*)(const Value&, Arguments&, Work&);
struct NamedMethod {
  std::string_view name;
  Method method;
};

// strip, lstrip, rstrip: of white space, or of the characters of an argument.
template <bool kBefore, bool kBehind>
Value strip(const Value& value, Arguments& arguments, Work& work) {
  std::string_view text = *value.text();
  work.spend(text.size());
  const auto set = arguments.take(0, "chars");
  if (set.is_undefined() || set.is_none()) {
    if (kBefore) text = without_space_before(text);
    if (kBehind) text = without_space_behind(text);
  } else {
    if (!set.text()) work.refuse(fmt::format("strip() of {}", set.kind()));
    const auto characters = characters_of(*set.text());
    work.spend(text.size() * (characters.size() + 1));
    if (kBefore) text = without_before(text, characters);
    if (kBehind) text = without_behind(text, characters);
  }
  return Value::text(std::string(text), work);
}

Values split_at_space(std::string_view text, std::int64_t most, Work& work) {
  Values parts;
  for (;;) {
    text = without_space_before(text);
    if (text.empty()) return parts;
    if (most >= 0 && static_cast<std::int64_t>(parts.size()) == most) {
      parts.push_back(Value::text(std::string(without_space_behind(text)), work));
      return parts;
    }
    const char* at = text.data();
    const char* end = at;
    while (at < text.data() + text.size() && !is_white_space(next_character(at))) end = at;
    const auto size = static_cast<std::size_t>(end - text.data());
    parts.push_back(Value::text(std::string(text.substr(0, size)), work));
    text.remove_prefix(size);
  }
}

Value split(const Value& value, Arguments& arguments, Work& work) {
  std::string_view text = *value.text();
  work.spend(text.size() * 2);
  const auto separator = arguments.take(0, "sep");
  const auto most = arguments.integer_or(1, "maxsplit", -1, work);
  if (separator.is_undefined() || separator.is_none()) {
    return Value::list(split_at_space(text, most, work), work);
  }
  if (!separator.text() || separator.text()->empty()) {
    work.refuse("split() needs a text to split at, which is not empty");
  }
  Values parts;
  for (;;) {
    const auto at = most >= 0 && static_cast<std::int64_t>(parts.size()) >= most
                        ? std::string_view::npos
                        : text.find(*separator.text());
    parts.push_back(Value::text(std::string(text.substr(0, at)), work));
    if (at == std::string_view::npos) return Value::list(std::move(parts), work);
    text.remove_prefix(at + separator.text()->size());
  }
}

Value split_lines(const Value& value, Arguments&, Work& work) {
  std::string_view text = *value.text();
  Values lines;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\r\n"), text.size());
    lines.push_back(Value::text(std::string(text.substr(0, end)), work));
    const bool is_two = text.substr(end).starts_with("\r\n");
    text.remove_prefix(std::min(text.size(), end + (is_two ? 2 : 1)));
  }
  return Value::list(std::move(lines), work);
}

template <bool kStart>
Value starts_or_ends(const Value& value, Arguments& arguments, Work& work) {
  const auto part = arguments.take(0, "prefix");
  const auto fits = [&](const Value& one) {
    if (!one.text()) work.refuse(fmt::format("startswith() or endswith() of {}", one.kind()));
    return kStart ? value.text()->starts_with(*one.text()) : value.text()->ends_with(*one.text());
  };
  if (part.list() && part.list()->is_tuple) {
    return Value::truth(std::ranges::any_of(part.list()->items, fits));
  }
  return Value::truth(fits(part));
}

Value replace(const Value& value, Arguments& arguments, Work& work) {
  const auto old = arguments.text(0, "old", work);
  const auto by = arguments.text(1, "new", work);
  const auto count = arguments.integer_or(2, "count", -1, work);
  return Value::text(replaced(*value.text(), old, by, count, work), work);
}

Value lower(const Value& value, Arguments&, Work& work) {
  return Value::text(lower_case(*value.text(), work), work);
}
Value upper(const Value& value, Arguments&, Work& work) {
  return Value::text(upper_case(*value.text(), work), work);
}
Value capitalize(const Value& value, Arguments&, Work& work) {
  auto text = lower_case(*value.text(), work);
  if (!text.empty())
    text =
        upper_case(text.substr(0, utf8_length(text[0])), work) + text.substr(utf8_length(text[0]));
  return Value::text(std::move(text), work);
}

Value find(const Value& value, Arguments& arguments, Work& work) {
  work.spend(value.text()->size());
  const auto at = value.text()->find(arguments.text(0, "sub", work));
  if (at == std::string::npos) return Value::integer(-1);
  return Value::integer(
      static_cast<std::int64_t>(character_count(std::string_view(*value.text()).substr(0, at))));
}

constexpr std::array kTextMethods = {
    NamedMethod{"capitalize", capitalize},
    NamedMethod{"endswith", starts_or_ends<false>},
    NamedMethod{"find", find},
    NamedMethod{"lower", lower},
    NamedMethod{"lstrip", strip<true, false>},
    NamedMethod{"replace", replace},
    NamedMethod{"rstrip", strip<false, true>},
    NamedMethod{"split", split},
    NamedMethod{"splitlines", split_lines},
    NamedMethod{"startswith", starts_or_ends<true>},
    NamedMethod{"strip", strip<true, true>},
    NamedMethod{"upper", upper},
};

Value get(const Value& value, Arguments& arguments, Work& work) {
  const auto key = arguments.take(0, "key");
  const auto otherwise = arguments.take(1, "default");
  for (const auto& [name, held] : value.dict()->items) {
    if (are_equal(name, key, work)) return held;
  }
  return otherwise.is_undefined() ? Value::none() : otherwise;
}
Value items(const Value& value, Arguments&, Work& work) {
  Values pairs;
  for (const auto& [key, held] : value.dict()->items) {
    pairs.push_back(Value::list({key, held}, work, true));
  }
  return Value::list(std::move(pairs), work);
}
Value keys(const Value& value, Arguments&, Work& work) {
  return Value::list(elements(value, work), work);
}
Value values(const Value& value, Arguments&, Work& work) {
  Values all;
  for (const auto& [key, held] : value.dict()->items) all.push_back(held);
  return Value::list(std::move(all), work);
}

constexpr std::array kDictMethods = {NamedMethod{"get", get}, NamedMethod{"items", items},
                                     NamedMethod{"keys", keys}, NamedMethod{"values", values}};

const NamedMethod* find_method(const Value& value, std::string_view name) {
  const auto find_in = [&](const auto& methods) -> const NamedMethod* {
    const auto at = std::ranges::find(methods, name, &NamedMethod::name);
    return at == methods.end() ? nullptr : &*at;
  };
  if (value.text()) return find_in(kTextMethods);
  return value.dict() ? find_in(kDictMethods) : nullptr;
}

// As the C library has it, which knows one character for one: Python alone writes these two with
// two characters, or by what stands beside.
char32_t lower_character(char32_t c, Work& work) {
  static const locale_t kUnicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (c == U'İ' || c == U'Σ' || kUnicode == nullptr) {
    work.refuse(fmt::format("lower case of '{}' is not supported", text_of({&c, 1})));
  }
  return static_cast<char32_t>(::towlower_l(static_cast<wint_t>(c), kUnicode));
}

}  // namespace

Value Arguments::take(std::size_t place, std::string_view name) {
  taken_ = std::max(taken_, place + 1);
  if (place < by_place_.size()) return by_place_[place];
  const auto at = by_keyword_.find(name);
  if (at == by_keyword_.end()) return {};
  auto value = at->second;
  by_keyword_.erase(at);
  return value;
}

std::string Arguments::text(std::size_t place, std::string_view name, Work& work) {
  const auto value = take(place, name);
  if (!value.text()) {
    work.refuse(fmt::format("argument '{}' is {}, where a text is expected", name, value.kind()));
  }
  work.spend(value.text()->size());
  return *value.text();
}

std::int64_t Arguments::integer_or(std::size_t place, std::string_view name, std::int64_t otherwise,
                                   Work& work) {
  const auto value = take(place, name);
  if (value.is_undefined() || value.is_none()) return otherwise;
  const auto integer = value.as_integer();
  if (!integer) {
    work.refuse(
        fmt::format("argument '{}' is {}, where an integer is expected", name, value.kind()));
  }
  return *integer;
}

Arguments Arguments::behind(std::size_t place) {
  const auto from = std::min(place, by_place_.size());
  taken_ = by_place_.size();
  return {Values(by_place_.begin() + static_cast<std::ptrdiff_t>(from), by_place_.end()),
          std::exchange(by_keyword_, {})};
}

void Arguments::finish(std::string_view what, Work& work) const {
  if (!by_keyword_.empty()) {
    work.refuse(
        fmt::format("{}: the argument '{}' is not supported", what, by_keyword_.begin()->first));
  }
  if (by_place_.size() > taken_) work.refuse(fmt::format("{}: too many arguments", what));
}

bool has_method(const Value& value, std::string_view name) {
  return find_method(value, name) != nullptr;
}

Value call_method(const Value& value, std::string_view name, Arguments& arguments, Work& work) {
  const auto* method = find_method(value, name);
  if (method == nullptr) {
    work.refuse(fmt::format("the method '{}' of {} is not supported", name, value.kind()));
  }
  auto result = method->method(value, arguments, work);
  arguments.finish(fmt::format("method '{}'", name), work);
  return result;
}

std::string lower_case(std::string_view text, Work& work) {
  work.spend(text.size());
  std::string result;
  for (const auto c : characters_of(text)) {
    append_utf8(result,
                c < 0x80 ? (c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) : lower_character(c, work));
  }
  return result;
}

std::string upper_case(std::string_view text, Work& work) {
  work.spend(text.size());
  std::string result(text);
  for (auto& c : result) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      work.refuse("upper case beyond ASCII is not supported");
    }
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

std::string replaced(std::string_view text, std::string_view old, std::string_view by,
                     std::int64_t count, Work& work) {
  work.spend(text.size());
  std::string result;
  while (count != 0) {
    // Nothing is found before every character, and at the end.
    const auto at = text.find(old);
    if (at == std::string_view::npos) break;
    work.spend(by.size() + 16);
    (result += text.substr(0, at)) += by;
    if (count > 0) --count;
    if (old.empty()) {
      if (text.empty()) return result;
      const auto size = utf8_length(text[0]);
      result += text.substr(0, size);
      text.remove_prefix(size);
    } else {
      text.remove_prefix(at + old.size());
    }
  }
  return result += text;
}

}  // namespace assay::models::jinja
