// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/input_file.h"
#include "base/json_stream.h"

template class nlohmann::basic_json<>;

namespace assay {

Json parse_json(std::string_view text, std::string_view what) {
  return read_json(pieces_of(text), what);
}

Json parse_checked_json(std::string_view text, std::string_view what) {
  check_depth(pieces_of(text), what);
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::exception& error) {
    fail_to_parse(error, what);
  }
}

Json read_json_file(const std::string& path) { return parse_json(read_input_file(path), path); }

std::string canonical_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string pretty_json(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

Json number_to_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double number_from_json(const Json& value, std::string_view what) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  fail("{}: expected a number, got {}", what, canonical_json(value));
}

namespace {

template <typename T>
constexpr std::string_view kTypeName = "value";
template <>
constexpr std::string_view kTypeName<std::string> = "string";
template <>
constexpr std::string_view kTypeName<double> = "number";
template <>
constexpr std::string_view kTypeName<std::int64_t> = "integer";
template <>
constexpr std::string_view kTypeName<bool> = "boolean";

template <typename T>
bool holds(const Json& value) {
  if constexpr (std::is_same_v<T, std::string>) return value.is_string();
  if constexpr (std::is_same_v<T, double>) return value.is_number();
  if constexpr (std::is_same_v<T, bool>) return value.is_boolean();
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return value.is_number_integer() &&
           (!value.is_number_unsigned() ||
            value.get<std::uint64_t>() <=
                static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  }
  return true;
}

}  // namespace

template <typename T>
T json_field(const Json& object, std::string_view key, std::string_view what) {
  if (!object.is_object()) fail("{}: expected an object, got {}", what, canonical_json(object));
  const auto it = object.find(std::string(key));
  if (it == object.end()) fail("{}: missing key '{}'", what, key);
  if (!holds<T>(*it)) {
    fail("{}: key '{}' must be of type {}, got {}", what, key, kTypeName<T>, canonical_json(*it));
  }
  if constexpr (std::is_same_v<T, Json>) {
    return *it;
  } else {
    return it->get<T>();
  }
}

template std::string json_field<std::string>(const Json&, std::string_view, std::string_view);
template double json_field<double>(const Json&, std::string_view, std::string_view);
template std::int64_t json_field<std::int64_t>(const Json&, std::string_view, std::string_view);
template bool json_field<bool>(const Json&, std::string_view, std::string_view);
template Json json_field<Json>(const Json&, std::string_view, std::string_view);

}  // namespace assay
