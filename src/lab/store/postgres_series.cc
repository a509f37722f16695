// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/postgres_series.h"

#include <fmt/format.h>

#include <array>

#include "base/hash.h"
#include "lab/store/postgres_copy.h"

namespace assay::lab {
namespace {

// Where the columns of a series stand in kColumnNames, in the order of kSeriesColumns.
constexpr auto kSeriesIndices = std::to_array<std::size_t>({2, 3, 4, 5, 6, 7, 8, 13});

// No two series give one text; its hash is the key, for a point may be longer than an index takes.
std::string series_text(const Columns& columns) {
  std::string text;
  for (const auto i : kSeriesIndices) {
    const auto part = text_of(columns[i]);
    text.append(fmt::format_int(part.size()).str()).append(":").append(part);
  }
  return text;
}

}  // namespace

std::vector<std::int64_t> PostgresSeries::ids_of(std::span<const Columns* const> columns) {
  std::vector<std::string> texts;
  std::map<std::string, const Columns*> unknown;  // by key
  std::map<std::string, std::string> key_of;      // by text
  for (const auto* one : columns) {
    texts.push_back(series_text(*one));
    const auto& text = texts.back();
    if (known_.contains(text) || key_of.contains(text)) continue;
    unknown.emplace(key_of[text] = sha256_hex(text), one);
  }
  std::vector<std::string> keys;
  for (const auto& [text, key] : key_of) keys.push_back(key);
  auto ids = stored(keys);
  if (ids.size() < keys.size()) {
    for (const auto& [key, id] : ids) unknown.erase(key);
    make(unknown);
    ids = stored(keys);
  }
  for (const auto& [text, key] : key_of) known_.emplace(text, ids.at(key));
  std::vector<std::int64_t> series;
  for (const auto& text : texts) series.push_back(known_.at(text));
  return series;
}

void PostgresSeries::inspect(Inspector& inspector) {
  const auto sql = fmt::format("SELECT {}, key, id FROM series ORDER BY id", kSeriesColumns);
  db_.visit(sql, {}, [&](const PostgresResult& row) {
    Columns columns;
    int column = 0;
    for (const auto i : kSeriesIndices) columns[i] = std::string(row.text(0, column++));
    if (row.text(0, column) == sha256_hex(series_text(columns))) return;
    inspector.problem({}, {},
                      fmt::format("column 'key' of series {} does not agree with what it stands "
                                  "for ({} in case '{}' of '{}' at {})",
                                  row.number(0, column + 1), row.text(0, 3), row.text(0, 1),
                                  row.text(0, 0), row.text(0, 2)));
  });
}

PostgresSeries::IdsByKey PostgresSeries::stored(const std::vector<std::string>& keys) {
  IdsByKey ids;
  if (keys.empty()) return ids;
  const SqlValue value = postgres_array(keys);
  const auto found =
      db_.execute("SELECT key, id FROM series WHERE key = ANY ($1::text[])", {&value, 1});
  for (int row = 0; row < found.rows(); ++row) {
    ids.emplace(found.text(row, 0), found.number(row, 1));
  }
  return ids;
}

void PostgresSeries::make(const std::map<std::string, const Columns*>& new_ones) {
  std::vector<const char*> names = {"key"};
  for (const auto column : kSeriesIndices) names.push_back(kColumnNames[column]);
  PostgresCopy copy(db_, "series", names);
  for (const auto& [key, columns] : new_ones) {
    copy.begin_row();
    copy.add(std::string_view(key));
    for (const auto column : kSeriesIndices) copy.add((*columns)[column]);
  }
  copy.complete();
}

}  // namespace assay::lab
