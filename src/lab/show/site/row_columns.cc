// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/row_columns.h"

#include <charconv>
#include <string>
#include <unordered_map>
#include <vector>

namespace assay::lab {
namespace {

Json rounded(const Json& value) {
  if (value.is_number_float()) {
    char text[32];
    const auto [end, ignored] =
        std::to_chars(text, text + sizeof text, value.get<double>(), std::chars_format::general, 7);
    double seven_digits = 0;
    std::from_chars(text, end, seven_digits);
    return seven_digits;
  }
  if (!value.is_array()) return value;
  Json list = Json::array();
  for (const auto& item : value) list.push_back(rounded(item));
  return list;
}

class Columns {
 public:
  void add(const Row& row) {
    const Json json = row_to_json(row);
    // What a reader looks for first stands first.
    for (const char* name :
         {"attempt_id", "case",     "cores",  "order",   "platform",   "provider", "round",
          "run_id",     "schema",   "status", "suite",   "try",        "point",    "machine",
          "failure",    "fidelity", "work",   "samples", "provenance", "metrics"}) {
      add_member(name, json[name], 1);
    }
    for (const auto& [name, value] : row.unknown.items()) add_member(name, value, 1);
    ++count_;
  }

  Json to_json() && { return {{"count", count_}, {"columns", std::move(columns_)}}; }

 private:
  // Objects nested deeper than this are leaves: nothing we write goes that far.
  static constexpr int kDeepest = 8;

  void add_member(const std::string& name, const Json& value, int depth) {
    const auto before = path_.size();
    path_ += name + '\0';
    names_.push_back(name);
    if (value.is_object() && !value.empty() && depth < kDeepest) {
      for (const auto& [key, member] : value.items()) add_member(key, member, depth + 1);
    } else {
      add_leaf(value);
    }
    names_.pop_back();
    path_.resize(before);
  }

  void add_leaf(const Json& value) {
    const auto [it, first] = index_.try_emplace(path_, columns_.size());
    if (first) columns_.push_back(Json::array({names_, Json::array()}));
    auto& values = columns_[it->second][1].get_ref<Json::array_t&>();
    values.resize(count_);  // nulls for the rows that did not have the leaf
    values.push_back(rounded(value));
  }

  Json columns_ = Json::array();
  std::unordered_map<std::string, std::size_t> index_;  // by path
  std::string path_;                                    // of the leaf at hand
  std::vector<std::string> names_;                      // the same, name by name
  std::size_t count_ = 0;
};

}  // namespace

Json row_columns(std::span<const Row> rows) {
  Columns columns;
  for (const Row& row : rows) columns.add(row);
  return std::move(columns).to_json();
}

}  // namespace assay::lab
