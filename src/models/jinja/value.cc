// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/jinja/value.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace assay::models::jinja {
namespace {

constexpr int kDeepest = 100;

int depth_with(const Value& item, int depth, Work& work) {
  if (item.name_space() != nullptr || item.as<const Macro*>() != nullptr ||
      item.as<const Loop*>() != nullptr) {
    work.refuse(fmt::format("{} as a part of another value is not supported", item.kind()));
  }
  depth = std::max(depth, item.depth() + 1);
  if (depth > kDeepest) work.refuse(fmt::format("values more than {} levels deep", kDeepest));
  return depth;
}

}  // namespace

void Work::refuse(std::string_view problem) const {
  fail("{}: line {}: {}", what_, line, fit(printable(problem), 300));
}

Value Value::text(std::string text, Work& work) {
  work.spend(sizeof(std::string) + text.size());
  return Value(std::make_shared<const std::string>(std::move(text)));
}

Value Value::list(Values items, Work& work, bool is_tuple) {
  work.spend(sizeof(List) + items.size() * sizeof(Value));
  int depth = 1;
  for (const auto& item : items) depth = depth_with(item, depth, work);
  return Value(std::make_shared<const List>(List{std::move(items), is_tuple, depth}));
}

Value Value::dict(Pairs items, Work& work) {
  work.spend(sizeof(Dict) + items.size() * 2 * sizeof(Value));
  int depth = 1;
  for (const auto& [key, value] : items) {
    depth = depth_with(key, depth, work);
    depth = depth_with(value, depth, work);
  }
  return Value(std::make_shared<const Dict>(Dict{std::move(items), depth}));
}

std::optional<std::int64_t> Value::as_integer() const {
  if (const auto* holds = as<bool>()) return *holds ? 1 : 0;
  const auto* integer = as<std::int64_t>();
  return integer == nullptr ? std::nullopt : std::optional(*integer);
}

double Value::number() const {
  if (const auto* real = as<double>()) return *real;
  return static_cast<double>(as_integer().value());
}

std::string_view Value::kind() const {
  static constexpr std::string_view kKinds[] = {
      "nothing", "none",        "a truth value", "an integer", "a number",   "a text", "a list",
      "a dict",  "a namespace", "a macro",       "a loop",     "a function", "a text"};
  static_assert(std::size(kKinds) == std::variant_size_v<Held>);
  return list() != nullptr && list()->is_tuple ? "a tuple" : kKinds[held_.index()];
}

int Value::depth() const {
  if (list() != nullptr) return list()->depth;
  return dict() != nullptr ? dict()->depth : 0;
}

}  // namespace assay::models::jinja
