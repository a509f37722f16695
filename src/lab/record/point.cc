// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/point.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace assay::lab {
namespace {

constexpr std::size_t kLongestText = 200;

void check_value(const Parameter& parameter, const Json& value) {
  if (!parameter.choices.empty()) {
    const bool known =
        value.is_string() &&
        std::ranges::find(parameter.choices, value.get<std::string>()) != parameter.choices.end();
    if (!known) {
      fail("point: '{}' must be one of {}, got {}", parameter.name,
           fmt::join(parameter.choices, ", "), canonical_json(value));
    }
    return;
  }
  if (parameter.text) {
    const auto longest = std::max(kLongestText, parameter.longest_if_given);
    if (!value.is_string() || value.get_ref<const std::string&>().size() > longest) {
      fail("point: '{}' must be a text of at most {} characters, got {}", parameter.name, longest,
           canonical_json(value));
    }
    return;
  }
  if (!value.is_number_integer() || value < parameter.min || value > parameter.max) {
    fail("point: '{}' must be an integer from {} to {}, got {}", parameter.name, parameter.min,
         parameter.max, canonical_json(value));
  }
}

}  // namespace

Json PointSchema::complete(const Json& given, const Json& defaults) const {
  if (!given.is_object()) fail("point: expected an object, got {}", canonical_json(given));
  for (const auto& [key, value] : given.items()) {
    const auto known = [&](const Parameter& p) { return p.name == key; };
    if (std::ranges::none_of(parameters_, known)) {
      std::vector<std::string> names;
      for (const auto& p : parameters_) names.push_back(p.name);
      fail("point: unknown parameter (known: {}): '{}'", fmt::join(names, ", "), key);
    }
  }
  Json point = Json::object();
  for (const auto& parameter : parameters_) {
    // A derived extent follows what it derives from, if that was given anew: {"n":64} is a cube
    // whatever the default's m was.
    const bool leader_given = !parameter.same_as.empty() && given.contains(parameter.same_as);
    Json value;
    if (given.contains(parameter.name)) {
      value = given[parameter.name];
    } else if (defaults.contains(parameter.name) && !leader_given) {
      value = defaults[parameter.name];
    } else if (!parameter.same_as.empty() || parameter.longest_if_given > 0) {
      continue;
    } else {
      fail("point: missing parameter '{}'", parameter.name);
    }
    check_value(parameter, value);
    if (parameter.longest_if_given > 0 && value == "") continue;
    point[parameter.name] = std::move(value);
  }
  for (const auto& parameter : parameters_) {
    if (parameter.same_as.empty() || !point.contains(parameter.name)) continue;
    if (point[parameter.name] == point[parameter.same_as]) point.erase(parameter.name);
  }
  return point;
}

std::int64_t point_int(const Json& point, std::string_view name, std::string_view fallback) {
  const bool own = fallback.empty() || point.contains(std::string(name));
  return json_field<std::int64_t>(point, own ? name : fallback, "point");
}

std::string point_word(const Json& point, std::string_view name) {
  return json_field<std::string>(point, name, "point");
}

std::string point_label(const Json& point) {
  std::string label;
  for (const auto& [key, value] : point.items()) {
    label += fmt::format("{}{}={}", label.empty() ? "" : " ", key,
                         value.is_string() ? value.get<std::string>() : canonical_json(value));
  }
  return label;
}

}  // namespace assay::lab
