// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// TOML files that people write by hand. Whoever reads one wants two things that a parser alone does
// not give: an error that says file, line and key in one line, and a complaint about every key that
// nobody asked for, because a misspelt key must not silently mean "default".

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace assay {

// Text as a TOML string. Throws UserError where it is not UTF-8, which no TOML file may hold.
std::string toml_quoted(std::string_view text);

// A table of a parsed file. Copies share the parsed file; cheap to pass by value.
class TomlTable {
 public:
  // Parses a whole document; `name` stands for the file in errors. Throws UserError.
  static TomlTable parse(std::string_view text, std::string name);
  // Reads and parses a file. Throws UserError that names the path.
  static TomlTable read(const std::string& path);

  bool has(std::string_view key) const;
  // Whether the key is there and holds a table.
  bool is_table(std::string_view key) const;

  // The value of a key. A missing key or another type throws UserError "FILE:LINE: KEY: …".
  std::string text(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  double number(std::string_view key) const;  // integers count as numbers; NaN and infinity do not
  bool flag(std::string_view key) const;
  // A number, or an array of at least one: what a scan runs over.
  std::vector<double> numbers(std::string_view key) const;
  TomlTable table(std::string_view key) const;
  // The tables of an array of them, [[key]]; none where the key is missing.
  std::vector<TomlTable> tables(std::string_view key) const;
  // Whatever the key holds, tables and arrays with all that is in them; dates and times are
  // refused.
  Json json(std::string_view key) const;
  // The table's keys, in alphabetical order, each asked for hereby.
  std::vector<std::string> keys() const;
  // The same in the order of the file.
  std::vector<std::string> keys_as_written() const;
  // An array of arrays of integers, e.g. [[0, 1], [1, 2]]: coordinates, links.
  std::vector<std::vector<std::int64_t>> integer_rows(std::string_view key) const;

  // Throws UserError "FILE:LINE: KEY: <message>" for a value that was read but makes no sense.
  template <typename... Args>
  [[noreturn]] void reject(std::string_view key, fmt::format_string<Args...> format,
                           Args&&... args) const {
    throw_at(key, fmt::format(format, std::forward<Args>(args)...));
  }

  // Throws UserError for the first key, here or in a table below, that nothing has asked for.
  void refuse_unread_keys() const;

 private:
  struct Document;
  TomlTable(std::shared_ptr<Document> document, const void* node, std::string prefix);
  [[noreturn]] void throw_at(std::string_view key, const std::string& message) const;
  const void* find(std::string_view key, std::string_view expected) const;

  std::shared_ptr<Document> document_;
  const void* node_;    // a toml::table of the document
  std::string prefix_;  // "hbm." for the table [hbm]
};

}  // namespace assay
