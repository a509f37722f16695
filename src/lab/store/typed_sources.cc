// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/typed_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>

#include "base/error.h"
#include "lab/store/shown_source.h"

namespace assay::lab {
namespace {

// By how they are shown; none where that is not one.
std::map<std::string, std::optional<std::string>>& typed_sources() {
  static std::map<std::string, std::optional<std::string>> sources;
  return sources;
}

bool is_option(std::string_view word) {
  return std::ranges::all_of(
      word, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

// Where in an argument a source would begin.
std::size_t begin_of_source(std::string_view word) {
  constexpr std::string_view kSelector = "source:";
  std::size_t begin = 0;
  if (word.starts_with("-")) begin = std::min(word.find_first_not_of('-'), word.size());
  const auto equals = word.find('=');
  const bool is_given = word.starts_with("--") && equals != std::string_view::npos;
  if (is_given && is_option(word.substr(0, equals))) begin = equals + 1;
  return word.substr(begin).starts_with(kSelector) ? begin + kSelector.size() : begin;
}

// A program with its arguments is no source, whatever it is given.
bool is_command(const std::string& text) {
  const auto space = text.find(' ', text.find_first_not_of(' '));
  if (space == std::string::npos || is_address(text)) return false;
  return text.find_first_not_of(' ', space) != text.find('=') && space < text.find('=');
}

// What may be shown of a text, in no more bytes than it has; another than all before.
std::string fitting(const std::string& typed) {
  auto shown = shown_source(typed);
  if (shown.size() > typed.size()) shown.resize(shown.rfind("…"));
  const auto plain = shown;
  for (int number = 2; typed_sources().contains(shown) && typed_sources()[shown] != typed;) {
    auto other = fmt::format("{}#{}", plain, number++);
    if (other.size() > typed.size()) break;
    shown = std::move(other);
  }
  return shown;
}

}  // namespace

void take_passwords(int argc, char** argv, std::span<const std::string_view> without_sources) {
  const bool knows_none =
      argc > 1 && std::ranges::find(without_sources, argv[1]) != without_sources.end();
  for (int i = 1; i < argc; ++i) {
    const auto word = std::span(argv[i], std::string_view(argv[i]).size());
    const auto place = word.subspan(begin_of_source({word.data(), word.size()}));
    const std::string typed(place.data(), place.size());
    std::error_code ignored;
    if (shown_source(typed) == typed || is_command(typed)) continue;
    if (std::filesystem::exists(typed, ignored)) continue;
    if (knows_none && !is_address(typed)) continue;
    const auto shown = fitting(typed);
    const auto [known, is_new] = typed_sources().try_emplace(shown, typed);
    if (!is_new && known->second != typed) known->second.reset();
    std::ranges::fill(place, '\0');
    std::ranges::copy(shown, place.begin());
  }
}

std::string with_password(const std::string& shown) {
  const auto typed = typed_sources().find(shown);
  if (typed == typed_sources().end()) return shown;
  if (!typed->second) {
    fail("several sources that differ in what is not shown (a file keeps passwords apart): '{}'",
         shown);
  }
  return *typed->second;
}

std::string as_typed(const std::string& shown) {
  const auto typed = typed_sources().find(shown);
  const bool is_known = typed != typed_sources().end() && typed->second;
  return is_known && !is_address(*typed->second) ? *typed->second : shown;
}

}  // namespace assay::lab
