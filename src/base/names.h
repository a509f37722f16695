// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace assay {

// The names of an enumeration's values, in one table for both directions:
//   constexpr auto kColours = make_names<Colour>({{Colour::kRed, "red"}, {Colour::kBlue, "blue"}});
template <typename Value, std::size_t kCount>
struct Names {
  std::array<std::pair<Value, std::string_view>, kCount> entries;

  // The name of a value that is in the table; a bug otherwise.
  constexpr std::string_view operator[](Value value) const {
    for (const auto& [known, name] : entries) {
      if (known == value) return name;
    }
    check(false, "an enumerator without a name");
    return {};
  }
  constexpr std::optional<Value> find(std::string_view name) const {
    for (const auto& [value, known] : entries) {
      if (known == name) return value;
    }
    return std::nullopt;
  }
  // Throws UserError that names `what`, the text and all names.
  Value parse(std::string_view name, std::string_view what) const {
    if (const auto value = find(name)) return *value;
    fail("{}: '{}' is none of {}", what, name, list());
  }
  std::string list() const {
    std::string text;
    for (const auto& [value, name] : entries)
      text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
  }
};

template <typename Value, std::size_t kCount>
constexpr Names<Value, kCount> make_names(
    const std::pair<Value, std::string_view> (&entries)[kCount]) {
  return {std::to_array(entries)};
}

}  // namespace assay
