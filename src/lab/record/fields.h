// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Structs to JSON and back, for files that others write too. A struct names its members once:
//
//   struct Side {
//     std::optional<std::string> label;
//     Json rest = Json::object();
//     static void fields(auto& self, auto&& field) { field("label", self.label); }
//   };
//
// Reading takes what is there and of the member's type. Everything else (null, of another type, of
// a later version) stays in `rest` and is written back as it was, so that nothing is lost by
// passing through. An empty optional is left out or, with field.or_null(), written as null.

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.h"

namespace assay::lab {

template <typename T>
concept HasFields = requires(T value) {
  value.rest;
};

template <HasFields T>
T take_fields(Json json);
template <HasFields T>
Json fields_to_json(const T& value);

// Each take_value() moves the JSON value into the member, or leaves both as they are and returns
// false.
inline bool take_value(Json& json, std::string& to) {
  if (!json.is_string()) return false;
  to = std::move(json.get_ref<std::string&>());
  return true;
}
inline bool take_value(Json& json, bool& to) {
  if (!json.is_boolean()) return false;
  to = json.get<bool>();
  return true;
}
template <std::integral T>
bool take_value(Json& json, T& to) {
  if (!json.is_number_integer()) return false;
  const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                              : std::in_range<T>(json.get<std::int64_t>());
  if (fits) to = json.get<T>();
  return fits;
}
inline bool take_value(Json& json, double& to) {
  if (json.is_number()) {
    to = json.get<double>();
    return true;
  }
  const auto* name = json.get_ptr<const std::string*>();
  if (name == nullptr || (*name != "nan" && *name != "inf" && *name != "-inf")) return false;
  to = number_from_json(json, "number");
  return true;
}
inline bool take_value(Json& json, Json& to) {
  to = std::move(json);
  return true;
}
// What the elements of a list or a map are taken from. A copy where taking moves them: the last may
// be the one that does not fit. A number stays where it was.
template <typename T>
using TakenFrom = std::conditional_t<std::is_arithmetic_v<T>, Json&, Json>;

template <typename T>
bool take_value(Json& json, std::vector<T>& to) {
  if (!json.is_array()) return false;
  TakenFrom<T> elements = json;
  std::vector<T> list;
  list.reserve(elements.size());
  for (Json& element : elements) {
    if (!take_value(element, list.emplace_back())) return false;
  }
  elements.clear();  // in less time than by a destructor
  to = std::move(list);
  return true;
}
template <typename T>
bool take_value(Json& json, std::map<std::string, T>& to) {
  if (!json.is_object()) return false;
  TakenFrom<T> members = json;
  std::map<std::string, T> map;
  for (auto& [key, value] : members.template get_ref<Json::object_t&>()) {
    if (!take_value(value, map[key])) return false;
  }
  to = std::move(map);
  return true;
}
template <HasFields T>
bool take_value(Json& json, T& to) {
  if (!json.is_object()) return false;
  to = take_fields<T>(std::move(json));
  return true;
}
template <typename T>
bool take_value(Json& json, std::optional<T>& to) {
  T value{};
  if (!take_value(json, value)) return false;
  to = std::move(value);
  return true;
}

template <typename T>
Json value_to_json(const T& value) {
  if constexpr (HasFields<T>) {
    return fields_to_json(value);
  } else {
    return value;
  }
}
inline Json value_to_json(double value) { return number_to_json(value); }
inline Json value_to_json(const std::map<std::string, double>& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = number_to_json(value);
  return json;
}
inline Json value_to_json(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(number_to_json(value));
  return json;
}

// Null where there is nothing.
template <typename T>
Json value_to_json(const std::optional<T>& value) {
  return value ? value_to_json(*value) : Json();
}

struct FieldTaker {
  Json::object_t& object;
  void operator()(const char* key, auto& member) {
    const auto it = object.find(key);
    if (it != object.end() && take_value(it->second, member)) object.erase(it);
  }
  void or_null(const char* key, auto& member) {
    const auto it = object.find(key);
    if (it != object.end() && it->second.is_null()) {
      object.erase(it);
    } else {
      (*this)(key, member);
    }
  }
};

struct FieldPutter {
  Json& json;
  template <typename T>
  void operator()(const char* key, const T& member) {
    json[key] = value_to_json(member);
  }
  template <typename T>
  void operator()(const char* key, const std::optional<T>& member) {
    if (member) json[key] = value_to_json(*member);
  }
  template <typename T>
  void or_null(const char* key, const std::optional<T>& member) {
    if (member || !json.contains(key)) json[key] = value_to_json(member);
  }
};

template <HasFields T>
T take_fields(Json json) {
  T value;
  T::fields(value, FieldTaker{json.get_ref<Json::object_t&>()});
  value.rest = std::move(json);
  return value;
}

template <HasFields T>
Json fields_to_json(const T& value) {
  Json json = value.rest;
  T::fields(value, FieldPutter{json});
  return json;
}

}  // namespace assay::lab
