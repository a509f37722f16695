// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A value within a file, which knows its place: what is wrong with it is said as one line,
// "DIR/tokenizer.json: model.unk_token: expected a text, got 7".

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace assay::models {

// Of one part of a file (normaliser, pre-tokeniser, decoder): files have up to four.
inline constexpr std::size_t kMostSteps = 64;

class JsonField {
 public:
  // `file` names the whole, of which `value` is the root.
  JsonField(const Json& value, std::string file) : value_(&value), file_(std::move(file)) {}

  // A member that must be there, and one that need not be: absent and null are the same.
  JsonField operator[](std::string_view key) const;
  std::optional<JsonField> find(std::string_view key) const;
  std::vector<JsonField> elements() const;  // of an array

  const std::string& text() const;
  bool flag() const;
  bool flag_or(std::string_view key, bool otherwise) const;  // of a member
  std::int64_t integer(std::int64_t low, std::int64_t high) const;
  double positive() const;  // finite and above 0
  const Json& value() const { return *value_; }
  const Json& object() const;
  const Json& array() const;

  // "file: place", for messages of others.
  std::string where() const;
  [[noreturn]] void refuse(std::string_view why) const;            // "<where>: <why>"
  [[noreturn]] void refuse_value(std::string_view why) const;      // "<where>: <why>, got <value>"
  [[noreturn]] void refuse_kind(std::string_view expected) const;  // "expected <…>, got <value>"

 private:
  JsonField(const Json& value, std::string file, std::string place)
      : value_(&value), file_(std::move(file)), place_(std::move(place)) {}

  const Json* value_;
  std::string file_, place_;
};

}  // namespace assay::models
