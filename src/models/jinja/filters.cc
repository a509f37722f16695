// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "models/jinja/characters.h"
#include "models/jinja/methods.h"
#include "models/jinja/operations.h"

namespace assay::models::jinja {
namespace {

using Filter = Value (*)(const Value&, Arguments&, Work&);
struct NamedFilter {
  std::string_view name;
  Filter filter;
};

// Applies a method of texts to whatever it is, as a text.
template <const char* kMethod>
Value as_text(const Value& value, Arguments& arguments, Work& work) {
  return call_method(Value::text(printed(value, work), work), kMethod, arguments, work);
}
constexpr char kStrip[] = "strip", kUpper[] = "upper", kLower[] = "lower",
               kCapitalize[] = "capitalize";

Value safe(const Value& value, Arguments&, Work& work) {
  return Value(Safe{std::make_shared<const std::string>(printed(value, work))});
}

Value default_value(const Value& value, Arguments& arguments, Work& work) {
  auto otherwise = arguments.take(0, "default_value");
  const bool also_false = is_true(arguments.take(1, "boolean"));
  if (!value.is_undefined() && (!also_false || is_true(value))) return value;
  return otherwise.is_undefined() ? Value::text("", work) : otherwise;
}

Value to_json(const Value& value, Arguments& arguments, Work& work) {
  const bool is_ascii = is_true(arguments.take(0, "ensure_ascii"));
  const auto indent = arguments.integer_or(1, "indent", -1, work);
  if (indent > 64) work.refuse("tojson: an indent beyond 64");
  const auto separators = arguments.take(2, "separators");
  if (!separators.is_undefined() && !separators.is_none()) {
    work.refuse("filter 'tojson': the argument 'separators' is not supported");
  }
  const bool sorts = is_true(arguments.take(3, "sort_keys"));
  return Value::text(json_text(value, static_cast<int>(indent), is_ascii, sorts, work), work);
}

// What stands at "a.b.0" within a value.
Value value_at(Value value, const Value& path, Work& work) {
  if (!path.text()) return item(value, path, work);
  std::string_view rest = *path.text();
  for (;;) {
    const auto end = rest.find('.');
    const auto name = rest.substr(0, end);
    std::int64_t index = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool is_index = read.ec == std::errc() && read.ptr == name.data() + name.size();
    value = item(value, is_index ? Value(index) : Value::text(std::string(name), work), work);
    if (end == std::string_view::npos) return value;
    rest.remove_prefix(end + 1);
  }
}

Value join(const Value& value, Arguments& arguments, Work& work) {
  const auto between = printed(arguments.take(0, "d"), work);
  const auto path = arguments.take(1, "attribute");
  std::string text;
  bool is_first = true;
  for (const auto& one : elements(value, work)) {
    if (!std::exchange(is_first, false)) text += between;
    text += printed(path.is_undefined() ? one : value_at(one, path, work), work);
    work.spend(between.size());
  }
  return Value::text(std::move(text), work);
}

Value replace_in_text(const Value& value, Arguments& arguments, Work& work) {
  const auto old = printed(arguments.take(0, "old"), work);
  const auto by = printed(arguments.take(1, "new"), work);
  const auto count = arguments.integer_or(2, "count", -1, work);
  return Value::text(replaced(printed(value, work), old, by, count, work), work);
}

Value item_pairs(const Value& value, Arguments& arguments, Work& work) {
  if (value.is_undefined()) return Value::list({}, work);
  if (!value.dict()) work.refuse(fmt::format("filter 'items' of {}", value.kind()));
  return call_method(value, "items", arguments, work);
}

Value reversed(const Value& value, Arguments&, Work& work) {
  if (value.text()) return slice(value, {}, {}, Value::integer(-1), work);
  auto items = elements(value, work);
  std::ranges::reverse(items);
  return Value::list(std::move(items), work);
}

Value first(const Value& value, Arguments&, Work& work) {
  const auto items = elements(value, work);
  return items.empty() ? Value::undefined("the first of nothing") : items.front();
}
Value last(const Value& value, Arguments&, Work& work) {
  const auto items = elements(value, work);
  return items.empty() ? Value::undefined("the last of nothing") : items.back();
}

Value to_integer(const Value& value, Arguments& arguments, Work& work) {
  const auto otherwise = arguments.integer_or(0, "default", 0, work);
  if (const auto integer = value.as_integer()) return Value(*integer);
  double real = NAN;
  if (value.as<double>()) real = value.number();
  if (value.text()) {
    const auto text = without_space_behind(without_space_before(*value.text()));
    std::int64_t integer = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, integer);
    if (read.ec == std::errc() && read.ptr == end) return Value(integer);
    if (std::from_chars(text.data(), end, real).ptr != end) real = NAN;
  }
  return std::fabs(real) < 9e18 ? Value(static_cast<std::int64_t>(real)) : Value(otherwise);
}

Value magnitude(const Value& value, Arguments&, Work& work) {
  if (!value.is_number()) work.refuse(fmt::format("filter 'abs' of {}", value.kind()));
  return compares(value, "<", Value::integer(0), work)
             ? arithmetic(Value::integer(0), "-", value, work)
             : value;
}

Value indented(const Value& value, Arguments& arguments, Work& work) {
  const auto width = arguments.integer_or(0, "width", 4, work);
  const bool has_first = is_true(arguments.take(1, "first"));
  const bool has_blank = is_true(arguments.take(2, "blank"));
  if (width < 0 || width > 1000) work.refuse("filter 'indent': a width from 0 to 1000");
  const std::string space(static_cast<std::size_t>(width), ' ');
  const auto text = printed(value, work);
  std::string result = has_first ? space : "";
  for (std::size_t at = 0;;) {
    const auto end = std::min(text.find('\n', at), text.size());
    result += text.substr(at, end - at);
    if (end == text.size()) return Value::text(std::move(result), work);
    result += '\n';
    at = end + 1;
    const bool is_blank = at == text.size() || text[at] == '\n';
    if (has_blank || !is_blank) result += space;
    work.spend(space.size() + 16);
  }
}

// What elements are ordered by: case does not count unless it is asked for.
Value sort_key(const Value& value, const Value& path, bool with_case, Work& work) {
  const auto key = path.is_undefined() || path.is_none() ? value : value_at(value, path, work);
  return key.text() && !with_case ? Value::text(lower_case(*key.text(), work), work) : key;
}

Value sorted_by(Values items, Values keys, bool descends, Work& work) {
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return descends ? is_less(keys[b], keys[a], work) : is_less(keys[a], keys[b], work);
  });
  Values result;
  for (const auto i : order) result.push_back(items[i]);
  return Value::list(std::move(result), work);
}

Value sorted(const Value& value, Arguments& arguments, Work& work) {
  const bool descends = is_true(arguments.take(0, "reverse"));
  const bool with_case = is_true(arguments.take(1, "case_sensitive"));
  const auto path = arguments.take(2, "attribute");
  auto items = elements(value, work);
  Values keys;
  for (const auto& one : items) keys.push_back(sort_key(one, path, with_case, work));
  return sorted_by(std::move(items), std::move(keys), descends, work);
}

Value sorted_pairs(const Value& value, Arguments& arguments, Work& work) {
  if (!value.dict()) work.refuse(fmt::format("filter 'dictsort' of {}", value.kind()));
  const bool with_case = is_true(arguments.take(0, "case_sensitive"));
  const auto by = arguments.take(1, "by");
  const bool by_value = by.text() && *by.text() == "value";
  const bool descends = is_true(arguments.take(2, "reverse"));
  Values items;
  Values keys;
  for (const auto& [key, held] : value.dict()->items) {
    items.push_back(Value::list({key, held}, work, true));
    keys.push_back(sort_key(by_value ? held : key, {}, with_case, work));
  }
  return sorted_by(std::move(items), std::move(keys), descends, work);
}

template <bool kGreatest>
Value extreme(const Value& value, Arguments&, Work& work) {
  const auto items = elements(value, work);
  if (items.empty()) return Value::undefined("the extreme of nothing");
  auto best = items[0];
  for (const auto& one : items) {
    const auto a = sort_key(one, {}, false, work);
    const auto b = sort_key(best, {}, false, work);
    if (kGreatest ? is_less(b, a, work) : is_less(a, b, work)) best = one;
  }
  return best;
}

Value unique(const Value& value, Arguments& arguments, Work& work) {
  const bool with_case = is_true(arguments.take(0, "case_sensitive"));
  const auto path = arguments.take(1, "attribute");
  Values seen;
  Values items;
  for (const auto& one : elements(value, work)) {
    const auto key = sort_key(one, path, with_case, work);
    const bool is_known =
        std::ranges::any_of(seen, [&](const auto& other) { return are_equal(key, other, work); });
    if (is_known) continue;
    seen.push_back(key);
    items.push_back(one);
  }
  return Value::list(std::move(items), work);
}

// Jinja asks only when the elements are used, and some templates never do.
Values elements_to_choose(const Value& value, Work& work) {
  const bool has_elements = value.text() || value.list() || value.dict() || value.is_undefined();
  if (!has_elements) {
    work.refuse(fmt::format("a choice of {}'s elements is not supported", value.kind()));
  }
  return elements(value, work);
}

Value map(const Value& value, Arguments& arguments, Work& work) {
  const auto path = arguments.take(SIZE_MAX - 1, "attribute");
  const auto otherwise = arguments.take(SIZE_MAX - 1, "default");
  const auto name = path.is_undefined() ? arguments.text(0, "filter", work) : std::string();
  const auto rest = arguments.behind(1);
  Values items;
  for (const auto& one : elements_to_choose(value, work)) {
    if (path.is_undefined()) {
      auto own = rest;
      items.push_back(filtered(one, name, own, work));
    } else {
      auto found = value_at(one, path, work);
      items.push_back(found.is_undefined() ? otherwise : found);
    }
  }
  return Value::list(std::move(items), work);
}

// select, reject: elements that pass a test, or that do not; selectattr, rejectattr: by a member.
template <bool kByMember, bool kPassing>
Value chosen(const Value& value, Arguments& arguments, Work& work) {
  const auto path = kByMember ? arguments.take(0, "attribute") : Value();
  const std::size_t place = kByMember ? 1 : 0;
  const auto test = arguments.take(place, "test");
  const auto rest = arguments.behind(place + 1);
  Values items;
  for (const auto& one : elements_to_choose(value, work)) {
    const auto looked_at = kByMember ? value_at(one, path, work) : one;
    auto own = rest;
    const bool passes = test.is_undefined() ? is_true(looked_at)
                        : test.text()       ? passes_test(looked_at, *test.text(), own, work)
                                            : false;
    if (!test.is_undefined() && !test.text()) work.refuse("a test's name is a text");
    if (passes == kPassing) items.push_back(one);
  }
  return Value::list(std::move(items), work);
}

Value count(const Value& value, Arguments&, Work& work) {
  return Value::integer(static_cast<std::int64_t>(length(value, work)));
}
Value to_list(const Value& value, Arguments&, Work& work) {
  return Value::list(elements(value, work), work);
}
Value to_text(const Value& value, Arguments&, Work& work) {
  return Value::text(printed(value, work), work);
}

constexpr std::array kFilters = {
    NamedFilter{"abs", magnitude},
    NamedFilter{"capitalize", as_text<kCapitalize>},
    NamedFilter{"count", count},
    NamedFilter{"d", default_value},
    NamedFilter{"default", default_value},
    NamedFilter{"dictsort", sorted_pairs},
    NamedFilter{"first", first},
    NamedFilter{"indent", indented},
    NamedFilter{"int", to_integer},
    NamedFilter{"items", item_pairs},
    NamedFilter{"join", join},
    NamedFilter{"last", last},
    NamedFilter{"length", count},
    NamedFilter{"list", to_list},
    NamedFilter{"lower", as_text<kLower>},
    NamedFilter{"map", map},
    NamedFilter{"max", extreme<true>},
    NamedFilter{"min", extreme<false>},
    NamedFilter{"reject", chosen<false, false>},
    NamedFilter{"rejectattr", chosen<true, false>},
    NamedFilter{"replace", replace_in_text},
    NamedFilter{"reverse", reversed},
    NamedFilter{"safe", safe},
    NamedFilter{"select", chosen<false, true>},
    NamedFilter{"selectattr", chosen<true, true>},
    NamedFilter{"sort", sorted},
    NamedFilter{"string", to_text},
    NamedFilter{"tojson", to_json},
    NamedFilter{"trim", as_text<kStrip>},
    NamedFilter{"unique", unique},
    NamedFilter{"upper", as_text<kUpper>},
};

}  // namespace

Value filtered(const Value& value, std::string_view name, Arguments& arguments, Work& work) {
  const auto filter = std::ranges::find(kFilters, name, &NamedFilter::name);
  if (filter == kFilters.end()) {
    work.refuse(fmt::format("the filter '{}' is not supported", name));
  }
  auto result = filter->filter(value, arguments, work);
  arguments.finish(fmt::format("filter '{}'", name), work);
  return result;
}

}  // namespace assay::models::jinja
