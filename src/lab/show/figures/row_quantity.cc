// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/figures/row_quantity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay::lab {

std::string origin_of(const Row& row) { return row.provenance.origin.value_or("measured"); }

Json quantity(const Row& row, const std::string& name) {
  if (name == "provider") return row.provider;
  if (const auto found = row.point.find(name); found != row.point.end()) return *found;
  if (name == "intensity") {
    const auto flops = row.work_of("flops"), bytes = row.work_of("bytes");
    return flops && bytes && *bytes > 0 ? Json(*flops / *bytes) : Json();
  }
  // Memory is that of the place where it is computed, as in tables.
  if (row.platform == "cuda" && name.starts_with("peak_rss")) {
    const auto found = row.metrics.find("peak_device_memory");
    if (found != row.metrics.end()) return found->second;
  }
  if (const auto found = row.metrics.find(name); found != row.metrics.end()) return found->second;
  return nullptr;
}

Json quantities(const Row& row, const std::vector<std::string>& names) {
  Json values = Json::array();
  for (const auto& name : names) values.push_back(quantity(row, name));
  return values;
}

std::string in_words(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:g}", value.get<double>());
  return value.is_null() ? "–" : canonical_json(value);
}

std::string describe(const Row& row, const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const auto& name : names) {
    const Json value = quantity(row, name);
    if (value.is_null()) continue;  // an extent that is another's equal, a parameter not given
    parts.push_back(value.is_string() ? in_words(value)
                                      : fmt::format("{} = {}", name, in_words(value)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool takes_part(const Row& row, const Json& only) {
  for (const auto& [key, wanted] : only.items()) {
    const Json value = quantity(row, key);
    const bool fits =
        wanted.is_array() ? std::ranges::find(wanted, value) != wanted.end() : value == wanted;
    if (!fits) return false;
  }
  return true;
}

}  // namespace assay::lab
