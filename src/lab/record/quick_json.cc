// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/quick_json.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"

namespace assay::lab {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 26;
constexpr std::size_t kMostLevels = 100;  // fewer than parse_checked_json() allows

Json object_of(simdjson::dom::object from) {
  Json json = Json::object();
  auto& members = json.get_ref<Json::object_t&>();
  for (const auto [key, value] : from) {  // most often sorted
    members.insert_or_assign(members.end(), std::string(key), json_of(value));
  }
  return json;
}

Json array_of(simdjson::dom::array from) {
  Json json = Json::array();
  auto& elements = json.get_ref<Json::array_t&>();
  elements.reserve(from.size());
  for (const auto value : from) elements.push_back(json_of(value));
  return json;
}

// The library takes one key twice in an object for two members.
bool has_repeated_key(simdjson::dom::element value) {
  if (simdjson::dom::array array; !value.get(array)) {
    for (const auto element : array) {
      if (has_repeated_key(element)) return true;
    }
  }
  simdjson::dom::object object;
  if (value.get(object)) return false;
  std::string_view before;
  bool is_sorted = true, is_first = true;
  for (const auto [key, member] : object) {
    is_sorted = is_sorted && (std::exchange(is_first, false) || before < key);
    before = key;
    if (has_repeated_key(member)) return true;
  }
  if (is_sorted) return false;  // as we write them
  std::set<std::string_view> keys;
  for (const auto [key, member] : object) {
    if (!keys.insert(key).second) return true;
  }
  return false;
}

}  // namespace

Json json_of(simdjson::dom::element value) {
  using Type = simdjson::dom::element_type;
  switch (value.type()) {
    case Type::OBJECT:
      return object_of(simdjson::dom::object(value));
    case Type::ARRAY:
      return array_of(simdjson::dom::array(value));
    case Type::STRING:
      return std::string(std::string_view(value));
    case Type::DOUBLE:
      return double{value};
    case Type::UINT64:
      return std::uint64_t{value};
    case Type::INT64:
      if (const std::int64_t number = value; number < 0) return number;
      return static_cast<std::uint64_t>(std::int64_t{value});
    case Type::BOOL:
      return bool{value};
    case Type::NULL_VALUE:
      break;
  }
  return nullptr;
}

std::optional<simdjson::dom::element> quick_parse(std::string_view text) {
  // The two libraries do not agree on which halves of characters beyond 16 bits may stand alone.
  if (text.find("\\u") != std::string_view::npos) return std::nullopt;
  thread_local simdjson::dom::parser parser(kMostBytes);
  if (parser.max_depth() != kMostLevels && parser.allocate(text.size(), kMostLevels)) {
    return std::nullopt;
  }
  simdjson::dom::element value;
  if (parser.parse(text.data(), text.size()).get(value)) return std::nullopt;
  if (has_repeated_key(value)) return std::nullopt;
  return value;
}

std::optional<Json> quick_json(std::string_view text) {
  const auto value = quick_parse(text);
  return value ? std::optional(json_of(*value)) : std::nullopt;
}

}  // namespace assay::lab
