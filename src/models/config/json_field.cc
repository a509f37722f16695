// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/config/json_field.h"

#include <cmath>

#include "base/text.h"

namespace assay::models {

std::string JsonField::where() const { return place_.empty() ? file_ : file_ + ": " + place_; }

void JsonField::refuse(std::string_view why) const { fail("{}: {}", where(), why); }

void JsonField::refuse_value(std::string_view why) const {
  // A short line that does no harm to a terminal.
  refuse(fmt::format("{}, got {}", why, fit(printable(canonical_json(*value_)), 80)));
}

void JsonField::refuse_kind(std::string_view expected) const {
  // What is large is named by its kind.
  if (value_->is_structured())
    refuse(fmt::format("expected {}, got {}", expected, value_->type_name()));
  refuse_value(fmt::format("expected {}", expected));
}

std::optional<JsonField> JsonField::find(std::string_view key) const {
  const auto found = object().find(key);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  const auto name = printable(key);
  return JsonField(*found, file_, place_.empty() ? name : fmt::format("{}.{}", place_, name));
}

JsonField JsonField::operator[](std::string_view key) const {
  auto member = find(key);
  if (!member) refuse(fmt::format("'{}' is missing", key));
  return *std::move(member);
}

std::vector<JsonField> JsonField::elements() const {
  std::vector<JsonField> result;
  for (const auto& element : array()) {
    result.push_back(JsonField(element, file_, fmt::format("{}[{}]", place_, result.size())));
  }
  return result;
}

const std::string& JsonField::text() const {
  if (!value_->is_string()) refuse_kind("a text");
  return value_->get_ref<const std::string&>();
}

bool JsonField::flag() const {
  if (!value_->is_boolean()) refuse_kind("true or false");
  return value_->get<bool>();
}

bool JsonField::flag_or(std::string_view key, bool otherwise) const {
  const auto member = find(key);
  return member ? member->flag() : otherwise;
}

std::int64_t JsonField::integer(std::int64_t low, std::int64_t high) const {
  const bool fits = value_->is_number_unsigned()
                        ? value_->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)
                        : value_->is_number_integer();
  if (!fits || value_->get<std::int64_t>() < low || value_->get<std::int64_t>() > high) {
    refuse_kind(fmt::format("an integer from {} to {}", low, high));
  }
  return value_->get<std::int64_t>();
}

double JsonField::positive() const {
  if (!value_->is_number() || !std::isfinite(value_->get<double>()) || value_->get<double>() <= 0) {
    refuse_kind("a number above 0");
  }
  return value_->get<double>();
}

const Json& JsonField::object() const {
  if (!value_->is_object()) refuse_kind("an object");
  return *value_;
}

const Json& JsonField::array() const {
  if (!value_->is_array()) refuse_kind("an array");
  return *value_;
}

}  // namespace assay::models
