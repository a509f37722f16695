// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/input_file.h"

template class nlohmann::basic_json<>;

namespace assay {
namespace {

constexpr int kMaxDepth = 200;  // far beyond any file of ours, far below a stack overflow in dump()

void check_depth(std::string_view text, std::string_view what) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) fail("{}: nested deeper than {} levels", what, kMaxDepth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

// Refuses an object that has a key twice. A walk of its own: the library's parser with a callback
// looks at all of an array's elements again for each object in it.
class RepeatedKeys : public nlohmann::json_sax<Json> {
 public:
  explicit RepeatedKeys(std::string_view what) : what_(what) {}

  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return true;
  }
  bool key(std::string& name) override {
    if (!keys_.back().insert(name).second) {
      fail("{}: repeated key {}", what_, canonical_json(Json(name)));
    }
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(Json::number_integer_t) override { return true; }
  bool number_unsigned(Json::number_unsigned_t) override { return true; }
  bool number_float(Json::number_float_t, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;  // the parser proper says it
  }

 private:
  std::string_view what_;
  std::vector<std::set<std::string>> keys_;
};

// The library's errors become ours.
Json parsed(std::string_view text, std::string_view what) {
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::exception& e) {
    // "[json.exception.parse_error.101] parse error at line 1, …": keep what a person can use.
    std::string message = e.what();
    if (const auto end = message.find("] "); end != std::string::npos) message.erase(0, end + 2);
    fail("{}: not valid JSON: {}", what, message);
  }
}

}  // namespace

Json parse_json(std::string_view text, std::string_view what) {
  check_depth(text, what);
  RepeatedKeys repeated(what);
  Json::sax_parse(text.begin(), text.end(), &repeated);
  return parsed(text, what);
}

Json parse_checked_json(std::string_view text, std::string_view what) {
  check_depth(text, what);
  return parsed(text, what);
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
