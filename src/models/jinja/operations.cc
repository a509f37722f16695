// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/jinja/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "models/jinja/characters.h"
#include "models/jinja/methods.h"

namespace assay::models::jinja {
namespace {

[[noreturn]] void refuse_undefined(const Value& value, Work& work) {
  const auto& name = value.as<Undefined>()->name;
  work.refuse(name ? fmt::format("'{}' is undefined", *name) : "a value is undefined");
}
void require_defined(const Value& value, Work& work) {
  if (value.is_undefined()) refuse_undefined(value, work);
}

[[noreturn]] void refuse_operands(const Value& a, std::string_view sign, const Value& b,
                                  Work& work) {
  require_defined(a, work);
  require_defined(b, work);
  work.refuse(fmt::format("'{}' of {} and {}", sign, a.kind(), b.kind()));
}

// Where an index from either end points to; the size or more: nowhere.
std::size_t place_of(std::int64_t index, std::size_t size) {
  if (index < 0) index += static_cast<std::int64_t>(size);
  return index < 0 ? size : static_cast<std::size_t>(index);
}

// The places that a slice takes, in order.
std::vector<std::size_t> sliced_places(std::size_t size, std::optional<std::int64_t> first,
                                       std::optional<std::int64_t> last, std::int64_t step) {
  const auto count = static_cast<std::int64_t>(size);
  const auto bound = [&](std::optional<std::int64_t> given, std::int64_t otherwise) {
    if (!given) return otherwise;
    const auto at = *given < 0 ? *given + count : *given;
    return std::clamp<std::int64_t>(at, step > 0 ? 0 : -1, step > 0 ? count : count - 1);
  };
  const auto begin = bound(first, step > 0 ? 0 : count - 1);
  const auto end = bound(last, step > 0 ? count : -1);
  std::vector<std::size_t> places;
  for (auto at = begin; step > 0 ? at < end : at > end; at += step) {
    places.push_back(static_cast<std::size_t>(at));
  }
  return places;
}

std::optional<std::int64_t> slice_bound(const Value& value, Work& work) {
  if (value.is_undefined() || value.is_none()) return std::nullopt;
  const auto integer = value.as_integer();
  if (!integer) work.refuse(fmt::format("a slice's bound is {}", value.kind()));
  // Beyond any text or list.
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  return std::clamp(*integer, -kFar, kFar);
}

const Value* member(const Dict& dict, const Value& key, Work& work) {
  work.spend(dict.items.size() * 4);
  for (const auto& [name, value] : dict.items) {
    if (are_equal(name, key, work)) return &value;
  }
  return nullptr;
}

Value integers(std::int64_t a, std::string_view sign, std::int64_t b, Work& work) {
  std::int64_t result = 0;
  bool overflows = false;
  if (sign == "+") {
    overflows = __builtin_add_overflow(a, b, &result);
  } else if (sign == "-") {
    overflows = __builtin_sub_overflow(a, b, &result);
  } else if (sign == "*") {
    overflows = __builtin_mul_overflow(a, b, &result);
  } else {
    if (b == 0) work.refuse("a division by zero");
    if (sign == "/") return Value(static_cast<double>(a) / static_cast<double>(b));
    overflows = a == INT64_MIN && b == -1;
    if (!overflows) {
      // Towards −∞, and a remainder with the divisor's sign.
      const auto rest = a % b;
      const bool is_between = rest != 0 && (rest < 0) != (b < 0);
      result = sign == "%" ? rest + (is_between ? b : 0) : a / b - (is_between ? 1 : 0);
    }
  }
  if (overflows) work.refuse("an integer beyond 64 bits");
  return Value(result);
}

Value reals(double a, std::string_view sign, double b, Work& work) {
  if (sign == "+") return Value(a + b);
  if (sign == "-") return Value(a - b);
  if (sign == "*") return Value(a * b);
  if (b == 0) work.refuse("a division by zero");
  if (sign == "/") return Value(a / b);
  double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  return Value(sign == "%" ? rest : std::floor((a - rest) / b + 0.5));
}

// A text for HTML, where it is not one already.
std::string escaped(const Value& value, Work& work) {
  work.spend(value.text()->size() * 5);
  if (value.as<Safe>()) return *value.text();
  std::string result;
  for (const char c : *value.text()) {
    if (c == '\'' || c == '"') {
      result += c == '"' ? "&#34;" : "&#39;";
    } else {
      result += markup_escaped(c);
    }
  }
  return result;
}

// As often as it is asked for.
Value repeated(const Value& value, std::int64_t times, Work& work) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
  const auto size = value.text() ? value.text()->size() : value.list()->items.size();
  std::size_t all = 0;
  if (__builtin_mul_overflow(size, count, &all)) all = SIZE_MAX;
  work.spend(all);
  if (value.text()) {
    std::string text;
    for (std::size_t i = 0; i < count && size > 0; ++i) text += *value.text();
    return Value::text(std::move(text), work);
  }
  Values items;
  for (std::size_t i = 0; i < count && size > 0; ++i) {
    items.insert(items.end(), value.list()->items.begin(), value.list()->items.end());
  }
  return Value::list(std::move(items), work, value.list()->is_tuple);
}

}  // namespace

bool is_true(const Value& value) {
  if (value.is_undefined() || value.is_none()) return false;
  if (value.is_number()) return value.number() != 0;
  if (value.text()) return !value.text()->empty();
  if (value.list()) return !value.list()->items.empty();
  if (value.dict()) return !value.dict()->items.empty();
  return true;
}

bool are_equal(const Value& a, const Value& b, Work& work) {
  work.spend(16);
  if (a.is_number() && b.is_number()) {
    const auto first = a.as_integer();
    const auto second = b.as_integer();
    return first && second ? *first == *second : a.number() == b.number();
  }
  if (a.text() && b.text()) {
    work.spend(std::min(a.text()->size(), b.text()->size()));
    return *a.text() == *b.text();
  }
  if (a.list() && b.list()) {
    return a.list()->is_tuple == b.list()->is_tuple &&
           std::ranges::equal(a.list()->items, b.list()->items,
                              [&](const auto& x, const auto& y) { return are_equal(x, y, work); });
  }
  if (a.dict() && b.dict()) {
    return a.dict()->items.size() == b.dict()->items.size() &&
           std::ranges::all_of(a.dict()->items, [&](const auto& pair) {
             const auto* other = member(*b.dict(), pair.first, work);
             return other != nullptr && are_equal(pair.second, *other, work);
           });
  }
  return (a.is_undefined() && b.is_undefined()) || (a.is_none() && b.is_none()) ||
         (a.name_space() != nullptr && a.name_space() == b.name_space());
}

bool is_less(const Value& a, const Value& b, Work& work) {
  if (a.is_number() && b.is_number()) {
    const auto first = a.as_integer();
    const auto second = b.as_integer();
    return first && second ? *first < *second : a.number() < b.number();
  }
  if (!a.text() || !b.text()) refuse_operands(a, "<", b, work);
  work.spend(std::min(a.text()->size(), b.text()->size()) + 16);
  return *a.text() < *b.text();  // UTF-8 sorts as code points do
}

bool is_inside(const Value& item, const Value& whole, Work& work) {
  if (whole.text()) {
    if (!item.text()) refuse_operands(item, "in", whole, work);
    work.spend(whole.text()->size() + 16);
    return whole.text()->find(*item.text()) != std::string::npos;
  }
  if (whole.dict()) return member(*whole.dict(), item, work) != nullptr;
  if (whole.list()) {
    return std::ranges::any_of(whole.list()->items,
                               [&](const auto& other) { return are_equal(item, other, work); });
  }
  if (whole.is_undefined()) return false;
  refuse_operands(item, "in", whole, work);
}

bool compares(const Value& a, std::string_view sign, const Value& b, Work& work) {
  if (sign == "==") return are_equal(a, b, work);
  if (sign == "!=") return !are_equal(a, b, work);
  if (sign == "in") return is_inside(a, b, work);
  if (sign == "not in") return !is_inside(a, b, work);
  const bool involves_nan =
      a.is_number() && b.is_number() && (std::isnan(a.number()) || std::isnan(b.number()));
  if (involves_nan) return false;
  if (sign == "<") return is_less(a, b, work);
  if (sign == "<=") return !is_less(b, a, work);
  if (sign == ">") return is_less(b, a, work);
  return !is_less(a, b, work);
}

Value arithmetic(const Value& a, std::string_view sign, const Value& b, Work& work) {
  if (a.is_number() && b.is_number()) {
    const auto first = a.as_integer();
    const auto second = b.as_integer();
    if (first && second) return integers(*first, sign, *second, work);
    return reals(a.number(), sign, b.number(), work);
  }
  if (sign == "+" && a.text() && b.text() && (a.as<Safe>() || b.as<Safe>())) {
    auto text = escaped(a, work) + escaped(b, work);
    return Value(Safe{std::make_shared<const std::string>(std::move(text))});
  }
  if (sign == "+" && a.text() && b.text()) return Value::text(*a.text() + *b.text(), work);
  if (sign == "+" && a.list() && b.list() && a.list()->is_tuple == b.list()->is_tuple) {
    work.spend((a.list()->items.size() + b.list()->items.size()) * sizeof(Value));
    auto items = a.list()->items;
    items.insert(items.end(), b.list()->items.begin(), b.list()->items.end());
    return Value::list(std::move(items), work, a.list()->is_tuple);
  }
  if (sign == "*" && (a.text() || a.list()) && b.as_integer()) {
    return repeated(a, *b.as_integer(), work);
  }
  if (sign == "*" && (b.text() || b.list()) && a.as_integer()) {
    return repeated(b, *a.as_integer(), work);
  }
  if (sign == "%" && a.text()) work.refuse("formatting a text with '%' is not supported");
  refuse_operands(a, sign, b, work);
}

Value attribute(const Value& whole, std::string_view name, Work& work) {
  require_defined(whole, work);
  if (const auto* loop = whole.as<const Loop*>()) return loop_attribute(**loop, name, work);
  if (const auto* space = whole.name_space()) {
    const auto at = space->members.find(name);
    return at == space->members.end() ? Value::undefined(name) : at->second;
  }
  if (has_method(whole, name)) {
    work.refuse(
        fmt::format("the method '{}' of {} without a call is not supported", name, whole.kind()));
  }
  if (whole.dict() != nullptr) {
    for (const auto& [key, value] : whole.dict()->items) {
      work.spend(16);
      if (key.text() && *key.text() == name) return value;
    }
  }
  return Value::undefined(name);
}

Value item(const Value& whole, const Value& key, Work& work) {
  require_defined(whole, work);
  if (whole.dict() != nullptr) {
    if (const auto* found = member(*whole.dict(), key, work)) return *found;
  }
  const auto index = key.as_integer();
  if (index && whole.list()) {
    const auto place = place_of(*index, whole.list()->items.size());
    if (place < whole.list()->items.size()) return whole.list()->items[place];
  }
  if (index && whole.text()) {
    work.spend(whole.text()->size());
    const auto characters = characters_of(*whole.text());
    const auto place = place_of(*index, characters.size());
    if (place < characters.size()) return Value::text(text_of({&characters[place], 1}), work);
  }
  if (whole.dict() == nullptr && key.text()) return attribute(whole, *key.text(), work);
  if (key.text() && has_method(whole, *key.text())) return attribute(whole, *key.text(), work);
  return Value::undefined(key.text() ? *key.text() : "element " + printed(key, work));
}

Value slice(const Value& whole, const Value& first, const Value& last, const Value& step,
            Work& work) {
  require_defined(whole, work);
  const auto by = slice_bound(step, work).value_or(1);
  if (by == 0) work.refuse("a slice's step is 0");
  const auto from = slice_bound(first, work);
  const auto to = slice_bound(last, work);
  if (whole.text()) {
    work.spend(whole.text()->size() * 8);
    const auto characters = characters_of(*whole.text());
    std::u32string taken;
    for (const auto at : sliced_places(characters.size(), from, to, by)) taken += characters[at];
    return Value::text(text_of(taken), work);
  }
  if (!whole.list()) work.refuse(fmt::format("a slice of {}", whole.kind()));
  work.spend(whole.list()->items.size() * 8);
  Values items;
  for (const auto at : sliced_places(whole.list()->items.size(), from, to, by)) {
    items.push_back(whole.list()->items[at]);
  }
  return Value::list(std::move(items), work, whole.list()->is_tuple);
}

Values elements(const Value& whole, Work& work) {
  if (whole.is_undefined()) return {};
  work.spend(length(whole, work) * sizeof(Value));
  if (whole.list()) return whole.list()->items;
  Values items;
  if (whole.text()) {
    for (const auto c : characters_of(*whole.text())) {
      items.push_back(Value::text(text_of({&c, 1}), work));
    }
  } else {
    for (const auto& [key, value] : whole.dict()->items) items.push_back(key);
  }
  return items;
}

std::size_t length(const Value& whole, Work& work) {
  if (whole.is_undefined()) return 0;
  if (whole.list()) return whole.list()->items.size();
  if (whole.dict()) return whole.dict()->items.size();
  if (!whole.text()) work.refuse(fmt::format("{} has no elements", whole.kind()));
  work.spend(whole.text()->size());
  return character_count(*whole.text());
}

}  // namespace assay::models::jinja
