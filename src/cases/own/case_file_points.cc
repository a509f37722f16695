// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/error.h"
#include "cases/own/case_file.h"
#include "tensor/dtype.h"

namespace assay::cases::own {
namespace {

constexpr std::int64_t kLargestParameter = std::int64_t{1} << 53;
constexpr std::size_t kMostParameters = 32, kLongestWord = 200;
constexpr const char* kSeed = "seed";
constexpr const char* kQuick = "quick";

void check_parameter_name(const TomlTable& table, const std::string& name) {
  constexpr std::string_view kTaken[] = {"min", "max", "size", "case", kQuick};
  if (!is_name(name) || std::ranges::find(kTaken, name) != std::end(kTaken)) {
    table.reject(name, "not a name for a parameter");
  }
  const bool is_dtype = [&] {
    try {
      dtype_from_name(name, "");
      return true;
    } catch (const UserError&) {
      return false;
    }
  }();
  if (is_dtype) table.reject(name, "the name of a dtype cannot be a parameter's");
}

// An integer or a word, of the kind that the parameter's other values have.
void check_value(const TomlTable& table, std::string_view key, const Json& value,
                 ParameterSpec& parameter, bool is_first) {
  const bool is_word = value.is_string();
  if (!is_word && !value.is_number_integer()) {
    table.reject(key, "a parameter is an integer or a word, got {}", canonical_json(value));
  }
  if (is_first) parameter.is_word = is_word;
  if (is_word != parameter.is_word) {
    table.reject(key, "all values of a parameter are integers or all words, got {}",
                 canonical_json(value));
  }
  if (is_word) {
    const auto word = value.get<std::string>();
    // Names of benchmarks and files are among them; what cannot be seen or would break a line is
    // not.
    const auto allowed = [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; };
    if (word.empty() || word.size() > kLongestWord || word.front() == ' ' || word.back() == ' ' ||
        !std::ranges::all_of(word, allowed)) {
      table.reject(key,
                   "a word has 1 to {} bytes, no control characters, no blank at its ends, got {}",
                   kLongestWord, canonical_json(value));
    }
    if (std::ranges::find(parameter.words, word) == parameter.words.end()) {
      parameter.words.push_back(word);
    }
    return;
  }
  const auto whole = value.get<std::int64_t>();
  if (whole > kLargestParameter || whole < -kLargestParameter) {
    table.reject(key, "beyond ± 2^53: {}", whole);
  }
  if (parameter.name == kSeed && (whole < 0 || whole >= std::int64_t{1} << 31)) {
    table.reject(key, "a seed is from 0 to 2^31 - 1, got {}", whole);
  }
}

void add_seed(CaseFile& into) {
  if (std::ranges::find(into.parameters, kSeed, &ParameterSpec::name) != into.parameters.end()) {
    return;
  }
  into.parameters.push_back({kSeed, false, {}});
  for (auto* list : {&into.points, &into.quick_points}) {
    for (auto& point : *list) point[kSeed] = 0;
  }
}

void add_once(std::vector<Json>& points, Json point) {
  if (std::ranges::find(points, point) == points.end()) points.push_back(std::move(point));
}

// [parameters]: the product of their values; the last one written changes fastest.
void read_grid(const TomlTable& table, CaseFile& into) {
  std::vector<std::vector<Json>> values;
  double count = 1;
  for (const auto& name : table.keys_as_written()) {
    if (name == kQuick) continue;
    check_parameter_name(table, name);
    auto& parameter = into.parameters.emplace_back();
    parameter.name = name;
    const Json given = table.json(name);
    auto& list = values.emplace_back();
    for (const auto& value : given.is_array() ? given : Json::array({given})) {
      check_value(table, name, value, parameter, list.empty());
      add_once(list, value);
    }
    if (list.empty()) table.reject(name, "expected at least one value, got an empty array");
    count *= static_cast<double>(list.size());
    if (count > kMostPoints) {
      table.reject(name, "the grid has more than {} points", kMostPoints);
    }
    if (values.size() > kMostParameters) {
      table.reject(name, "more than {} parameters", kMostParameters);
    }
  }
  into.points = {Json::object()};
  for (std::size_t p = 0; p < values.size(); ++p) {
    std::vector<Json> longer;
    for (const auto& point : into.points) {
      for (const auto& value : values[p]) {
        longer.push_back(point);
        longer.back()[into.parameters[p].name] = value;
      }
    }
    into.points = std::move(longer);
  }
  if (!table.has(kQuick)) {
    into.quick_points = {into.points.front()};
    return;
  }
  const Json quick = table.json(kQuick);
  for (const auto& given : quick.is_array() ? quick : Json::array({quick})) {
    if (!given.is_object()) {
      table.reject(kQuick, "expected a table of parameters, got {}", canonical_json(given));
    }
    Json point = into.points.front();
    for (const auto& [name, value] : given.items()) {
      const auto parameter = std::ranges::find(into.parameters, name, &ParameterSpec::name);
      if (parameter == into.parameters.end()) {
        table.reject(kQuick, "no parameter '{}'", name);
      }
      check_value(table, kQuick, value, *parameter, false);
      point[name] = value;
    }
    add_once(into.quick_points, std::move(point));
  }
  if (into.quick_points.empty()) table.reject(kQuick, "expected at least one point");
}

// [[points]]: one table each, all with the same parameters; `quick = true` marks the quick ones.
void read_list(const TomlTable& root, CaseFile& into) {
  const auto tables = root.tables("points");
  if (tables.empty()) root.reject("points", "expected at least one point");
  if (tables.size() > kMostPoints) root.reject("points", "more than {} points", kMostPoints);
  for (const auto& table : tables) {
    const bool is_first = into.points.empty();
    Json point = Json::object();
    for (const auto& name : table.keys_as_written()) {
      if (name == kQuick) continue;
      auto parameter = std::ranges::find(into.parameters, name, &ParameterSpec::name);
      if (parameter == into.parameters.end()) {
        if (!is_first) table.reject(name, "the first point has no such parameter");
        check_parameter_name(table, name);
        if (into.parameters.size() == kMostParameters) {
          table.reject(name, "more than {} parameters", kMostParameters);
        }
        into.parameters.push_back({name, false, {}});
        parameter = into.parameters.end() - 1;
      }
      const Json value = table.json(name);
      check_value(table, name, value, *parameter, is_first);
      point[name] = value;
    }
    for (const auto& parameter : into.parameters) {
      if (!point.contains(parameter.name)) table.reject(parameter.name, "missing parameter");
    }
    if (table.has(kQuick) && table.flag(kQuick)) add_once(into.quick_points, point);
    add_once(into.points, std::move(point));
  }
  if (into.quick_points.empty()) into.quick_points = {into.points.front()};
}

}  // namespace

void read_points(const TomlTable& root, CaseFile& into) {
  if (root.has("parameters") && root.has("points")) {
    root.reject("points", "[parameters] are a grid, [[points]] a list: one of the two");
  }
  if (root.has("points")) {
    read_list(root, into);
  } else if (root.has("parameters")) {
    read_grid(root.table("parameters"), into);
  } else {
    into.points = into.quick_points = {Json::object()};
  }
  if (root.has("inputs")) add_seed(into);
}

}  // namespace assay::cases::own
