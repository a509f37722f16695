// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/config/config_fields.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace assay::models {
namespace {

// A value as a short line that does no harm to a terminal.
std::string shown_value(const Json& value) { return fit(printable(canonical_json(value)), 80); }

}  // namespace

ConfigFields::ConfigFields(const Json& object, std::string what)
    : object_(object), what_(std::move(what)) {
  if (!object.is_object()) fail("{}: expected a JSON object, got {}", what_, shown_value(object));
}

void ConfigFields::refuse(std::string_view key, std::string_view problem) const {
  const auto at = object_.find(key);
  fail("{}: field '{}': {}{}", what_, printable(key), problem,
       at == object_.end() ? "" : ", got " + shown_value(*at));
}

const Json* ConfigFields::find(std::string_view key) {
  asked_.emplace(key);
  const auto at = object_.find(key);
  return at == object_.end() || at->is_null() ? nullptr : &*at;
}

const Json& ConfigFields::required(std::string_view key) {
  const auto* value = find(key);
  if (value == nullptr) fail("{}: field '{}' is missing", what_, key);
  return *value;
}

std::int64_t ConfigFields::count(std::string_view key, std::int64_t low, std::int64_t high) {
  const auto& value = required(key);
  const bool is_small = value.is_number_unsigned()
                            ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(high)
                            : value.is_number_integer();
  if (!is_small || value.get<std::int64_t>() < low || value.get<std::int64_t>() > high) {
    refuse(key, fmt::format("expected an integer from {} to {}", low, high));
  }
  return value.get<std::int64_t>();
}
std::int64_t ConfigFields::count_or(std::string_view key, std::int64_t otherwise, std::int64_t low,
                                    std::int64_t high) {
  return has(key) ? count(key, low, high) : otherwise;
}

double ConfigFields::positive(std::string_view key) {
  const auto& value = required(key);
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() <= 0) {
    refuse(key, "expected a number above 0");
  }
  return value.get<double>();
}
double ConfigFields::positive_or(std::string_view key, double otherwise) {
  return has(key) ? positive(key) : otherwise;
}

bool ConfigFields::flag_or(std::string_view key, bool otherwise) {
  const auto* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) refuse(key, "expected true or false");
  return value->get<bool>();
}

std::string ConfigFields::text(std::string_view key) {
  const auto& value = required(key);
  if (!value.is_string()) refuse(key, "expected a text");
  return value.get<std::string>();
}

std::string ConfigFields::one_of(std::string_view key,
                                 std::initializer_list<std::string_view> names) {
  auto value = text(key);
  if (std::ranges::find(names, value) == names.end()) {
    std::string list;
    for (const auto name : names) list += (list.empty() ? "" : " or ") + std::string(name);
    refuse(key, "supported is " + list);
  }
  return value;
}

std::vector<std::string> ConfigFields::texts(std::string_view key) {
  const auto& value = required(key);
  const bool fits =
      value.is_array() && std::ranges::all_of(value, [](const Json& v) { return v.is_string(); });
  if (!fits) refuse(key, "expected a list of texts");
  return value.get<std::vector<std::string>>();
}

std::vector<std::int64_t> ConfigFields::integers(std::string_view key, std::int64_t low,
                                                 std::int64_t high) {
  const auto* value = find(key);
  if (value == nullptr) return {};
  if (value->is_number()) return {count(key, low, high)};
  std::vector<std::int64_t> result;
  const auto is_inside = [&](const Json& v) {
    return v.is_number_integer() &&
           (!v.is_number_unsigned() ||
            v.get<std::uint64_t>() <= static_cast<std::uint64_t>(high)) &&
           v.get<std::int64_t>() >= low && v.get<std::int64_t>() <= high;
  };
  if (!value->is_array() || !std::ranges::all_of(*value, is_inside)) {
    refuse(key, fmt::format("expected integers from {} to {}", low, high));
  }
  return value->get<std::vector<std::int64_t>>();
}

void ConfigFields::expect(std::string_view key, const Json& value) {
  const auto* found = find(key);
  if (found != nullptr && *found != value) {
    refuse(key, "supported is " + canonical_json(value));
  }
}

void ConfigFields::ignore(std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) asked_.emplace(key);
}

void ConfigFields::finish() const {
  for (const auto& item : object_.items()) {
    if (!asked_.contains(item.key()) && !item.value().is_null()) {
      refuse(item.key(), "not supported");
    }
  }
}

}  // namespace assay::models
