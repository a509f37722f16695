// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/json_field.h"

#include "base/text.h"

namespace assay::models {

std::string JsonField::where() const { return place_.empty() ? file_ : file_ + ": " + place_; }

void JsonField::refuse(std::string_view why) const { fail("{}: {}", where(), why); }

void JsonField::refuse_kind(std::string_view expected) const {
  // What is large is named by its kind: the line stays one that a person reads.
  const bool large = value_->is_structured();
  const std::string got = large ? value_->type_name() : fit(printable(canonical_json(*value_)), 60);
  refuse(fmt::format("expected {}, got {}", expected, got));
}

std::optional<JsonField> JsonField::find(std::string_view key) const {
  const auto found = object().find(key);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return JsonField(*found, file_,
                   place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key));
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

std::uint64_t JsonField::number(std::uint64_t largest) const {
  const bool is_natural = value_->is_number_unsigned() ||
                          (value_->is_number_integer() && value_->get<std::int64_t>() >= 0);
  if (!is_natural || value_->get<std::uint64_t>() > largest) {
    refuse_kind(fmt::format("a whole number from 0 to {}", largest));
  }
  return value_->get<std::uint64_t>();
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
