// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a store keeps beside a line so that it can be searched. Everything here follows from the
// line; the line alone is the truth.

#include <array>
#include <cstdint>
#include <string>
#include <variant>

#include "lab/record/row.h"
#include "lab/store/sqlite.h"

namespace assay::lab {

inline constexpr auto kColumnNames = std::to_array<const char*>(
    {"run_id", "attempt_id", "suite", "case_name", "point", "provider", "platform", "fingerprint",
     "cores", "round", "try", "executed", "status"});
inline constexpr int kColumnCount = kColumnNames.size();

// In the order of the names.
using Columns = std::array<std::variant<std::int64_t, std::string>, kColumnCount>;

// What SeriesId (lab/beside/place.h) is made of, and where to select it from: the isolation follows
// from the line, and a line that is damaged has none.
inline constexpr const char* kSeriesColumns =
    "suite, case_name, point, provider, platform, fingerprint, cores, isolation";
inline constexpr const char* kPlacedAttempts =
    "(SELECT *, CASE WHEN json_valid(line) THEN"
    " coalesce(json_extract(line, '$.provenance.isolation'), '') ELSE '' END AS isolation"
    " FROM attempt)";
// Selects each series in each run, with `says`: whether the run has rows of it that are not void.
std::string runs_of_series_sql();

// Inserts a row unless its key is there: takes the columns, then sequence and line.
std::string insert_row_sql();
// Selects the columns, sequence and line of the row with an id.
std::string select_row_sql();

Columns columns_of(const Row& row);
// Binds all; they must outlive the step.
void bind_columns(Statement& statement, const Columns& columns);

// The name of the first column in which a row of select_row_sql() differs; null if none does.
const char* differing_column(const Statement& row, const Columns& columns);

}  // namespace assay::lab
