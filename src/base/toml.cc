// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/toml.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/input_file.h"
#include "base/text.h"

namespace assay {

struct TomlTable::Document {
  std::string name;
  toml::table root;
  std::set<std::string> asked;  // full keys that somebody has read or tested
};

namespace {

const toml::table& as_table(const void* node) { return *static_cast<const toml::table*>(node); }
const toml::node& as_node(const void* node) { return *static_cast<const toml::node*>(node); }

std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

// Not node.value<double>(): that is empty for integers that no double equals exactly.
double as_double(const toml::node& number) {
  if (const auto* integer = number.as_integer()) return static_cast<double>(integer->get());
  return number.as_floating_point()->get();
}

// What stands before the keys of table `index` of an array.
std::string item_prefix(std::string_view prefix, std::string_view key, std::size_t index) {
  return fmt::format("{}{}[{}].", prefix, key, index);
}

}  // namespace

TomlTable::TomlTable(std::shared_ptr<Document> document, const void* node, std::string prefix)
    : document_(std::move(document)), node_(node), prefix_(std::move(prefix)) {}

TomlTable TomlTable::parse(std::string_view text, std::string name) {
  auto document = std::make_shared<Document>();
  document->name = std::move(name);
  try {
    document->root = toml::parse(text, std::string_view(document->name));
  } catch (const toml::parse_error& e) {
    fail("{}:{}: not valid TOML: {}", document->name, e.source().begin.line, e.description());
  }
  const void* root = &document->root;
  return TomlTable(std::move(document), root, "");
}

TomlTable TomlTable::read(const std::string& path) { return parse(read_input_file(path), path); }

void TomlTable::throw_at(std::string_view key, const std::string& message) const {
  // A missing key has no line of its own: the table that lacks it has one (the root's is 0).
  const toml::node* node = as_table(node_).get(key);
  const auto line =
      node != nullptr ? node->source().begin.line : as_table(node_).source().begin.line;
  // A value or a key of a hundred thousand letters helps nobody.
  constexpr int kWidestKey = 100, kWidestMessage = 1000;
  const auto name = fit(prefix_ + std::string(key), kWidestKey);
  const auto text = fit(message, kWidestMessage);
  if (line == 0) fail("{}: {}: {}", document_->name, name, text);
  fail("{}:{}: {}: {}", document_->name, line, name, text);
}

const void* TomlTable::find(std::string_view key, std::string_view expected) const {
  document_->asked.insert(prefix_ + std::string(key));
  const toml::node* node = as_table(node_).get(key);
  if (node == nullptr) reject(key, "missing key, expected {}", expected);
  return node;
}

std::string toml_quoted(std::string_view text) {
  // The escapes of JSON are TOML's; only DEL may stand bare in one and not in the other.
  try {
    std::string quoted;
    for (const char c : Json(text).dump()) {
      if (c == '\x7f') {
        quoted += "\\u007f";
      } else {
        quoted += c;
      }
    }
    return quoted;
  } catch (const Json::exception&) {
    fail("text that is not UTF-8 cannot stand in a TOML file");
  }
}

bool TomlTable::has(std::string_view key) const {
  document_->asked.insert(prefix_ + std::string(key));
  return as_table(node_).contains(key);
}

bool TomlTable::is_table(std::string_view key) const {
  return has(key) && as_table(node_).get(key)->is_table();
}

std::string TomlTable::text(std::string_view key) const {
  const toml::node& node = as_node(find(key, "a string"));
  if (const auto value = node.value_exact<std::string>()) return *value;
  reject(key, "expected a string, got {}", type_name(node));
}

std::int64_t TomlTable::integer(std::string_view key) const {
  const toml::node& node = as_node(find(key, "an integer"));
  if (const auto value = node.value_exact<std::int64_t>()) return *value;
  reject(key, "expected an integer, got {}", type_name(node));
}

double TomlTable::number(std::string_view key) const {
  const toml::node& node = as_node(find(key, "a number"));
  if (!node.is_number()) reject(key, "expected a number, got {}", type_name(node));
  const double value = as_double(node);
  if (!std::isfinite(value)) reject(key, "expected a finite number, got {}", value);
  return value;
}

bool TomlTable::flag(std::string_view key) const {
  const toml::node& node = as_node(find(key, "true or false"));
  if (const auto value = node.value_exact<bool>()) return *value;
  reject(key, "expected true or false, got {}", type_name(node));
}

std::vector<double> TomlTable::numbers(std::string_view key) const {
  const toml::node& node = as_node(find(key, "a number or an array of numbers"));
  const toml::array* array = node.as_array();
  if (array == nullptr) return {number(key)};
  std::vector<double> values;
  for (const auto& item : *array) {
    if (!item.is_number()) reject(key, "expected numbers inside, got {}", type_name(item));
    values.push_back(as_double(item));
    if (!std::isfinite(values.back())) {
      reject(key, "expected finite numbers inside, got {}", values.back());
    }
  }
  if (values.empty()) reject(key, "expected at least one number, got an empty array");
  return values;
}

TomlTable TomlTable::table(std::string_view key) const {
  const toml::node& node = as_node(find(key, "a table"));
  const toml::table* table = node.as_table();
  if (table == nullptr) reject(key, "expected a table, got {}", type_name(node));
  return TomlTable(document_, table, prefix_ + std::string(key) + ".");
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) const {
  std::vector<TomlTable> tables;
  if (!has(key)) return tables;
  const toml::node& node = as_node(find(key, "an array of tables"));
  const toml::array* array = node.as_array();
  if (array == nullptr) reject(key, "expected an array of tables, got {}", type_name(node));
  for (const auto& item : *array) {
    if (!item.is_table()) reject(key, "expected tables inside, got {}", type_name(item));
    tables.push_back({document_, item.as_table(), item_prefix(prefix_, key, tables.size())});
  }
  return tables;
}

Json TomlTable::json(std::string_view key) const {
  const auto convert = [&](const auto& self, const toml::node& node,
                           const std::string& name) -> Json {
    document_->asked.insert(prefix_ + name);
    if (const auto* table = node.as_table()) {
      Json object = Json::object();
      for (const auto& [inner, value] : *table) {
        object[std::string(inner.str())] =
            self(self, value, fmt::format("{}.{}", name, inner.str()));
      }
      return object;
    }
    if (const auto* array = node.as_array()) {
      Json list = Json::array();
      for (const auto& value : *array) {
        list.push_back(self(self, value, fmt::format("{}[{}]", name, list.size())));
      }
      return list;
    }
    if (const auto text = node.value_exact<std::string>()) return *text;
    if (const auto integer = node.value_exact<std::int64_t>()) return *integer;
    if (const auto flag = node.value_exact<bool>()) return *flag;
    if (!node.is_number()) reject(key, "expected no date or time");
    return as_double(node);
  };
  return convert(convert, as_node(find(key, "a value")), std::string(key));
}

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, node] : as_table(node_)) {
    keys.emplace_back(key.str());
    document_->asked.insert(prefix_ + keys.back());
  }
  return keys;
}

std::vector<std::string> TomlTable::keys_as_written() const {
  auto written = keys();
  const auto place = [&](const std::string& key) {
    const auto begin = as_table(node_).get(key)->source().begin;
    return std::pair(begin.line, begin.column);
  };
  std::ranges::stable_sort(written, {}, place);
  return written;
}

std::vector<std::vector<std::int64_t>> TomlTable::integer_rows(std::string_view key) const {
  const toml::node& node = as_node(find(key, "an array of arrays of integers"));
  const toml::array* outer = node.as_array();
  if (outer == nullptr) {
    reject(key, "expected an array of arrays of integers, got {}", type_name(node));
  }
  std::vector<std::vector<std::int64_t>> rows;
  for (const auto& row : *outer) {
    const toml::array* inner = row.as_array();
    if (inner == nullptr) reject(key, "expected arrays inside, got {}", type_name(row));
    rows.emplace_back();
    for (const auto& item : *inner) {
      const auto value = item.value_exact<std::int64_t>();
      if (!value) reject(key, "expected integers inside, got {}", type_name(item));
      rows.back().push_back(*value);
    }
  }
  return rows;
}

void TomlTable::refuse_unread_keys() const {
  for (const auto& [key, node] : as_table(node_)) {
    const std::string_view name = key.str();
    if (!document_->asked.contains(prefix_ + std::string(name))) reject(name, "unknown key");
    if (const auto* inner = node.as_table()) {
      TomlTable(document_, inner, prefix_ + std::string(name) + ".").refuse_unread_keys();
    } else if (const auto* items = node.as_array()) {
      for (std::size_t i = 0; i < items->size(); ++i) {
        if (const auto* item = items->get(i)->as_table()) {
          TomlTable(document_, item, item_prefix(prefix_, name, i)).refuse_unread_keys();
        }
      }
    }
  }
}

}  // namespace assay
