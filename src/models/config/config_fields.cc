// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/config/config_fields.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace assay::models {

ConfigFields::ConfigFields(const Json& object, std::string what)
    : object_(object, std::move(what)) {
  object_.object();
}

void ConfigFields::refuse(std::string_view key, std::string_view problem) const {
  if (const auto member = object_.find(key)) member->refuse_value(problem);
  fail("{}: {}: {}", what(), printable(key), problem);
}

const Json* ConfigFields::find(std::string_view key) {
  asked_.emplace(key);
  const auto member = object_.find(key);
  return member ? &member->value() : nullptr;
}

JsonField ConfigFields::field(std::string_view key) {
  asked_.emplace(key);
  return object_[key];
}

std::int64_t ConfigFields::count(std::string_view key, std::int64_t low, std::int64_t high) {
  return field(key).integer(low, high);
}
std::int64_t ConfigFields::count_or(std::string_view key, std::int64_t otherwise, std::int64_t low,
                                    std::int64_t high) {
  return has(key) ? count(key, low, high) : otherwise;
}

double ConfigFields::positive(std::string_view key) { return field(key).positive(); }
double ConfigFields::positive_or(std::string_view key, double otherwise) {
  return has(key) ? positive(key) : otherwise;
}

bool ConfigFields::flag_or(std::string_view key, bool otherwise) {
  return has(key) ? field(key).flag() : otherwise;
}

std::string ConfigFields::text(std::string_view key) { return field(key).text(); }

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
  std::vector<std::string> texts;
  for (const auto& element : field(key).elements()) texts.push_back(element.text());
  return texts;
}

std::vector<std::int64_t> ConfigFields::integers(std::string_view key, std::int64_t low,
                                                 std::int64_t high) {
  const auto* value = find(key);
  if (value == nullptr) return {};
  if (!value->is_array()) return {count(key, low, high)};
  std::vector<std::int64_t> result;
  for (const auto& element : field(key).elements()) result.push_back(element.integer(low, high));
  return result;
}

void ConfigFields::expect(std::string_view key, const Json& value) {
  const auto* found = find(key);
  if (found != nullptr && *found != value) refuse(key, "supported is " + canonical_json(value));
}

void ConfigFields::ignore(std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) asked_.emplace(key);
}

void ConfigFields::finish() const {
  for (const auto& item : object_.value().items()) {
    if (!asked_.contains(item.key()) && !item.value().is_null()) {
      refuse(item.key(), "not supported");
    }
  }
}

}  // namespace assay::models
