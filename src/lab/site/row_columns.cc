// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/site/row_columns.h"

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
  void add(const Json& row) {
    add_leaves(row, root_, 0);
    ++count_;
  }

  Json to_json() && {
    Json columns = Json::array();
    for (auto& column : columns_) {
      column.at.resize(count_, -1);
      columns.push_back(Json::array({std::move(column.path), encode(column)}));
    }
    return {{"count", count_}, {"columns", std::move(columns)}};
  }

 private:
  // Objects nested deeper than this are leaves: nothing we write goes that far.
  static constexpr int kDeepest = 8;

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
      columns_.push_back({std::move(path), {}, {}, {}});
    }
    Column& column = columns_[static_cast<std::size_t>(node.column)];
    column.at.resize(count_, -1);
    Json kept = rounded(value);
    const auto [it, first] =
        column.ids.try_emplace(key_of(kept), static_cast<std::int32_t>(column.values.size()));
    if (first) column.values.push_back(std::move(kept));
    column.at.push_back(it->second);
  }

  Json encode(Column& column) const {
    const bool complete = std::ranges::none_of(column.at, [](std::int32_t at) { return at < 0; });
    if (complete && column.values.size() == 1) return {{"is", std::move(column.values[0])}};
    // An index costs a few bytes as well: where most values occur once, they stand by themselves.
    if (2 * column.values.size() < column.at.size()) {
      std::vector<std::int32_t> runs = run_lengths(column.at);
      const bool shorter = runs.size() < column.at.size();
      return {{"of", std::move(column.values)},
              {shorter ? "runs" : "at", shorter ? std::move(runs) : std::move(column.at)}};
    }
    Json values = Json::array();
    for (const auto at : column.at) {
      values.push_back(at < 0 ? Json() : column.values[static_cast<std::size_t>(at)]);
    }
    return {{"values", std::move(values)}};
  }

  Node root_;
  std::vector<Column> columns_;
  std::vector<const std::string*> path_;
  std::size_t count_ = 0;
};

}  // namespace

Json row_columns(std::span<const Row> rows) {
  Columns columns;
  for (const Row& row : rows) columns.add(row_to_json(row));
  return std::move(columns).to_json();
}

}  // namespace assay::lab
