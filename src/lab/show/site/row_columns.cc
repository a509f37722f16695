// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/row_columns.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace assay::lab {
namespace {

struct Column {
  Json path;
  std::vector<Json> values;                           // distinct, in the order of their first row
  std::unordered_map<std::string, std::int32_t> ids;  // by a text that tells values apart
  std::vector<std::int32_t> at;                       // by row; −1: none
  Json::array_t singly;                               // by row, in place of all that
  bool plain = false;
};

// A tree of columns that mirrors the tree of a row, so that a leaf is found without building its
// path's text.
struct Node {
  std::int32_t column = -1;
  std::map<std::string, Node, std::less<>> children;
};

double seven_digits(double value) {
  char text[32];
  const auto [end, ignored] =
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, 7);
  std::from_chars(text, end, value);
  return value;
}

Json rounded(const Json& value) {
  if (value.is_number_float()) return seven_digits(value.get<double>());
  if (!value.is_array()) return value;
  Json list = Json::array();
  for (const auto& item : value) list.push_back(rounded(item));
  return list;
}

// A text that is equal for equal values only; numbers keep their type.
std::string key_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::string:
      return "s" + value.get_ref<const std::string&>();
    case Json::value_t::number_float: {
      const double number = value.get<double>();
      return "d" + std::string(reinterpret_cast<const char*>(&number), sizeof number);
    }
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return "i" + std::to_string(value.get<std::int64_t>());
    case Json::value_t::boolean:
      return value.get<bool>() ? "t" : "f";
    case Json::value_t::null:
      return "n";
    default:
      return "j" + canonical_json(value);
  }
}

// Lengths and values by turns: what a whole run has in common becomes two numbers.
std::vector<std::int32_t> run_lengths(const std::vector<std::int32_t>& values) {
  std::vector<std::int32_t> runs;
  for (const auto value : values) {
    if (!runs.empty() && runs.back() == value) {
      ++runs[runs.size() - 2];
    } else {
      runs.insert(runs.end(), {1, value});
    }
  }
  return runs;
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
      add_field(name, json[name]);
    }
    for (const auto& [name, value] : row.unknown.items()) add_field(name, value);
    ++count_;
  }

  Json to_json() && {
    Json columns = Json::array();
    for (auto& column : columns_) {
      fill_up_to(column, count_);
      columns.push_back(Json::array({std::move(column.path), encode(column)}));
    }
    return {{"count", count_}, {"columns", std::move(columns)}};
  }

 private:
  // Objects nested deeper than this are leaves: nothing we write goes that far.
  static constexpr int kDeepest = 8;
  // A column whose values mostly differ so far is no longer searched for repetitions.
  static constexpr std::size_t kTrial = 512;

  void add_field(std::string_view name, const Json& value) {
    auto child = root_.children.find(name);
    if (child == root_.children.end()) child = root_.children.try_emplace(std::string(name)).first;
    path_.push_back(&child->first);
    add_leaves(value, child->second, 1);
    path_.pop_back();
  }

  void add_leaves(const Json& value, Node& node, int depth) {
    if (value.is_object() && !value.empty() && depth < kDeepest) {
      // Both sides are sorted, and rows resemble each other: the next key is nearly always the next
      // child.
      auto child = node.children.begin();
      for (auto member = value.begin(); member != value.end(); ++member) {
        if (child == node.children.end() || child->first != member.key()) {
          child = node.children.try_emplace(member.key()).first;
        }
        path_.push_back(&child->first);
        add_leaves(*member, child->second, depth + 1);
        path_.pop_back();
        ++child;
      }
      return;
    }
    if (node.column < 0) {
      node.column = static_cast<std::int32_t>(columns_.size());
      Json path = Json::array();
      for (const auto* name : path_) path.push_back(*name);
      columns_.push_back({std::move(path), {}, {}, {}, {}, false});
    }
    add_value(columns_[static_cast<std::size_t>(node.column)], rounded(value));
  }

  // Rows that do not have the leaf.
  static void fill_up_to(Column& column, std::size_t count) {
    if (column.plain) {
      column.singly.resize(count);
    } else {
      column.at.resize(count, -1);
    }
  }

  void add_value(Column& column, Json value) {
    fill_up_to(column, count_);
    if (column.plain) {
      column.singly.push_back(std::move(value));
      return;
    }
    const auto [it, first] =
        column.ids.try_emplace(key_of(value), static_cast<std::int32_t>(column.values.size()));
    if (first) column.values.push_back(std::move(value));
    column.at.push_back(it->second);
    if (column.at.size() == kTrial && 2 * column.values.size() > kTrial) make_plain(column);
  }

  static void make_plain(Column& column) {
    for (const auto at : column.at) {
      column.singly.push_back(at < 0 ? Json() : column.values[static_cast<std::size_t>(at)]);
    }
    column.plain = true;
  }

  static Json encode(Column& column) {
    if (!column.plain && column.values.size() == 1 &&
        std::ranges::none_of(column.at, [](std::int32_t at) { return at < 0; })) {
      return {{"is", std::move(column.values[0])}};
    }
    // An index costs a few bytes as well: where most values occur once, they stand by themselves.
    if (!column.plain && 2 * column.values.size() >= column.at.size()) make_plain(column);
    if (column.plain) return {{"values", std::move(column.singly)}};
    std::vector<std::int32_t> runs = run_lengths(column.at);
    const bool shorter = runs.size() < column.at.size();
    return {{"of", std::move(column.values)},
            {shorter ? "runs" : "at", shorter ? std::move(runs) : std::move(column.at)}};
  }

  Node root_;
  std::vector<Column> columns_;
  std::vector<const std::string*> path_;
  std::size_t count_ = 0;
};

}  // namespace

Json row_columns(std::span<const Row> rows) {
  Columns columns;
  for (const Row& row : rows) columns.add(row);
  return std::move(columns).to_json();
}

}  // namespace assay::lab
