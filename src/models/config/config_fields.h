// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// An object of a config.json, read strictly: what is missing, of another type or outside of its
// range is refused by name, and so is a field that nobody asked for, since it may change what the
// model computes.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "models/config/json_field.h"

namespace assay::models {

// Everything throws UserError, one line that names the file and the field. A field that is null
// counts as absent.
class ConfigFields {
 public:
  // `what` names the object in errors: a path, or path and field. The object lives as long.
  ConfigFields(const Json& object, std::string what);

  std::string what() const { return object_.where(); }
  bool has(std::string_view key) { return find(key) != nullptr; }
  // Null where it is absent.
  const Json* find(std::string_view key);
  // Refused where it is absent.
  JsonField field(std::string_view key);

  std::int64_t count(std::string_view key, std::int64_t low, std::int64_t high);
  std::int64_t count_or(std::string_view key, std::int64_t otherwise, std::int64_t low,
                        std::int64_t high);
  // Finite and above 0.
  double positive(std::string_view key);
  double positive_or(std::string_view key, double otherwise);
  bool flag_or(std::string_view key, bool otherwise);
  std::string text(std::string_view key);
  // One of several names.
  std::string one_of(std::string_view key, std::initializer_list<std::string_view> names);
  std::vector<std::string> texts(std::string_view key);
  // One integer, or a list of them; none where it is absent.
  std::vector<std::int64_t> integers(std::string_view key, std::int64_t low, std::int64_t high);

  // Another value than this one is an option that is not supported; absent is fine.
  void expect(std::string_view key, const Json& value);
  // Whatever they say, it does not change what is computed.
  void ignore(std::initializer_list<std::string_view> keys);
  // Refuses the first field that nobody asked for.
  void finish() const;

  [[noreturn]] void refuse(std::string_view key, std::string_view problem) const;

 private:
  JsonField object_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace assay::models
