// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/columns.h"

#include <fmt/ranges.h>

#include "base/json.h"
#include "lab/store/database.h"

namespace assay::lab {

std::string runs_of_series_sql(const std::string& placed) {
  return fmt::format(
      "SELECT {0}, run_id,"
      " max(CASE WHEN status IN ('excluded', 'interrupted') THEN 0 ELSE 1 END) AS says"
      " FROM {1} GROUP BY {0}, run_id",
      kSeriesColumns, placed);
}

std::string select_rows_sql(const std::string& placed) {
  return fmt::format("SELECT {}, sequence, line FROM {}", fmt::join(kColumnNames, ", "), placed);
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
          std::string(name_of(row.status)),
          row.provenance.isolation.value_or("")};
}

const char* differing_column(const Record& row, const Columns& columns) {
  for (int i = 0; i < kColumnCount; ++i) {
    const auto& column = columns[static_cast<std::size_t>(i)];
    const auto* text = std::get_if<std::string>(&column);
    const bool same = text ? row.text(i) == *text : row.number(i) == std::get<0>(column);
    if (!same) return kColumnNames[static_cast<std::size_t>(i)];
  }
  return nullptr;
}

}  // namespace assay::lab
