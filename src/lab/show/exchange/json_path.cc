// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/exchange/json_path.h"

namespace assay::lab {

const Json& member_or_null(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

const Json& member(const Json& object, const char* key, std::string_view what) {
  if (!object.is_object() || !object.contains(key)) json_field<Json>(object, key, what);  // throws
  return object.at(key);
}

Json value_at(const Json& object, std::string_view path) {
  const Json* here = &object;
  while (true) {
    const auto end = path.find('/');
    if (!here->is_object()) return nullptr;
    const auto it = here->find(std::string(path.substr(0, end)));
    if (it == here->end()) return nullptr;
    here = &*it;
    if (end == std::string_view::npos) return *here;
    path.remove_prefix(end + 1);
  }
}

std::optional<std::string> text_at(const Json& object, std::string_view path) {
  const Json value = value_at(object, path);
  if (!value.is_string()) return std::nullopt;
  return value.get<std::string>();
}

}  // namespace assay::lab
