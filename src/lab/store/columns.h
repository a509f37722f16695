// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a store keeps beside a line so that it can be searched. Everything here follows from the
// line; the line alone is the truth.

#include <cstdint>
#include <string>

#include "lab/record/row.h"
#include "lab/store/sqlite.h"

namespace assay::lab {

struct Columns {
  std::string run_id, attempt_id, suite, case_name, point, provider, platform, fingerprint;
  std::int64_t cores = 0, round = 0, try_number = 0, executed = 0;
  std::string status;

  bool operator==(const Columns&) const = default;
};

// The names, in the order of bind_columns() and read_columns(), separated by commas.
inline constexpr const char* kColumnNames =
    "run_id, attempt_id, suite, case_name, point, provider, platform, fingerprint, cores, round, "
    "try, executed, status";
inline constexpr int kColumnCount = 13;

// What SeriesId (lab/beside/place.h) is made of, and where to select it from: the isolation follows
// from the line, and a line that is damaged has none.
inline constexpr const char* kSeriesColumns =
    "suite, case_name, point, provider, platform, fingerprint, cores, isolation";
inline constexpr const char* kPlacedAttempts =
    "(SELECT *, CASE WHEN json_valid(line) THEN"
    " coalesce(json_extract(line, '$.provenance.isolation'), '') ELSE '' END AS isolation"
    " FROM attempt)";

// Inserts a row unless its key is there: takes the columns, then sequence and line.
std::string insert_row_sql();

Columns columns_of(const Row& row);
void bind_columns(Statement& statement, const Columns& columns);
Columns read_columns(const Statement& statement, int first);

// The name of the first column that differs; there must be one.
std::string differing_column(const Columns& a, const Columns& b);

}  // namespace assay::lab
