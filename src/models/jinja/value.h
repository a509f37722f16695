// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a template computes with: the values of Python that templates of models need. Values are
// small and share what they hold; nothing changes but a namespace.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/jinja/work.h"

namespace assay::models::jinja {

class Value;
struct Macro;  // interpreter.h
struct Loop;

// A name, key or place that nothing stands for; empty when printed, false, without elements.
struct Undefined {
  std::shared_ptr<const std::string> name;  // for errors; null: unknown
};
struct None {};
// A text that went through the filter `safe`. It is as any other, but that `+` escapes what is
// added to it, for HTML: so does Jinja.
struct Safe {
  std::shared_ptr<const std::string> text;
};
enum class Builtin : std::uint8_t { kRaiseException, kStrftimeNow, kNamespace, kRange };

using Values = std::vector<Value>;
using Pairs = std::vector<std::pair<Value, Value>>;
struct List {
  Values items;
  bool is_tuple = false;
  int depth = 0;  // levels of containers, itself included
};
struct Dict {
  Pairs items;  // in the order in which they came, no key twice
  int depth = 0;
};
struct Namespace {
  std::map<std::string, Value, std::less<>> members;
};

class Value {
 public:
  using Held =
      std::variant<Undefined, None, bool, std::int64_t, double, std::shared_ptr<const std::string>,
                   std::shared_ptr<const List>, std::shared_ptr<const Dict>,
                   std::shared_ptr<Namespace>, const Macro*, const Loop*, Builtin, Safe>;
  Value() = default;  // undefined
  template <typename T>
  requires std::is_constructible_v<Held, T>
  explicit Value(T held) : held_(std::move(held)) {}

  static Value undefined(std::string_view name) {
    return Value(Undefined{std::make_shared<const std::string>(name)});
  }
  static Value none() { return Value(None{}); }
  static Value integer(std::int64_t number) { return Value(number); }
  static Value truth(bool holds) { return Value(holds); }
  // Text and containers cost their size. Containers refuse values that change or end (namespaces,
  // macros, loops) and more than a hundred levels.
  static Value text(std::string text, Work& work);
  static Value list(Values items, Work& work, bool is_tuple = false);
  static Value dict(Pairs items, Work& work);

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&held_);
  }
  bool is_undefined() const { return as<Undefined>() != nullptr; }
  bool is_none() const { return as<None>() != nullptr; }
  // Null where it is something else.
  const std::string* text() const {
    const auto* safe = as<Safe>();
    return safe == nullptr ? shared<const std::string>() : safe->text.get();
  }
  const List* list() const { return shared<const List>(); }
  const Dict* dict() const { return shared<const Dict>(); }
  Namespace* name_space() const { return shared<Namespace>(); }
  // Of an integer or a truth value.
  std::optional<std::int64_t> as_integer() const;
  bool is_number() const { return as<bool>() || as<std::int64_t>() || as<double>(); }
  double number() const;  // of a number

  // "a text", "a list", …: for errors.
  std::string_view kind() const;
  int depth() const;

 private:
  template <typename T>
  T* shared() const {
    const auto* held = std::get_if<std::shared_ptr<T>>(&held_);
    return held == nullptr ? nullptr : held->get();
  }
  Held held_;
};

}  // namespace assay::models::jinja
