// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/columns.h"

#include <fmt/ranges.h>

#include "base/json.h"

namespace assay::lab {

std::string runs_of_series_sql() {
  return fmt::format(
      "SELECT {0}, run_id, max(status NOT IN ('excluded', 'interrupted')) AS says"
      " FROM {1} GROUP BY {0}, run_id",
      kSeriesColumns, kPlacedAttempts);
}

std::string insert_row_sql() {
  return fmt::format(
      "INSERT INTO attempt ({}, sequence, line) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
      " ON CONFLICT (run_id, attempt_id) DO NOTHING",
      fmt::join(kColumnNames, ", "));
}

std::string select_row_sql() {
  return fmt::format("SELECT {}, sequence, line FROM attempt WHERE id = ?",
                     fmt::join(kColumnNames, ", "));
}

Columns columns_of(const Row& row) {
  return {row.run_id,
          row.attempt_id,
          row.suite,
          row.case_name,
          canonical_json(row.point),
          row.provider,
          row.platform,
          row.machine.fingerprint,
          row.cores,
          row.round,
          row.try_number,
          row.order,
          std::string(name_of(row.status))};
}

void bind_columns(Statement& statement, const Columns& columns) {
  for (const auto& column : columns) {
    std::visit([&](const auto& value) { statement.bind(value); }, column);
  }
}

const char* differing_column(const Statement& row, const Columns& columns) {
  for (int i = 0; i < kColumnCount; ++i) {
    const auto& column = columns[static_cast<std::size_t>(i)];
    const auto* text = std::get_if<std::string>(&column);
    const bool same = text ? row.text(i) == *text : row.number(i) == std::get<0>(column);
    if (!same) return kColumnNames[static_cast<std::size_t>(i)];
  }
  return nullptr;
}

}  // namespace assay::lab
