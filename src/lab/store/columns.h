// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a store keeps beside a line so that it can be searched. Everything here follows from the
// line; the line alone is the truth.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "lab/record/row.h"

namespace assay::lab {

class Record;  // lab/store/database.h

inline constexpr auto kColumnNames = std::to_array<const char*>(
    {"run_id", "attempt_id", "suite", "case_name", "point", "provider", "platform", "fingerprint",
     "cores", "round", "try", "executed", "status", "isolation"});
inline constexpr int kColumnCount = kColumnNames.size();

// In the order of the names.
using Columns = std::array<std::variant<std::int64_t, std::string>, kColumnCount>;

// What SeriesId (lab/beside/place.h) is made of.
inline constexpr const char* kSeriesColumns =
    "suite, case_name, point, provider, platform, fingerprint, cores, isolation";

// Selects each series in each run from `placed` (Database::placed_attempts), with `says`: 1 where
// the run has rows of it that are not void.
std::string runs_of_series_sql(const std::string& placed);

// Selects the columns, sequence and line of rows.
std::string select_rows_sql(const std::string& placed);

// Of the row that a line holds. Refuses what row_from_line() refuses, in the same words; `what` is
// asked then alone.
Columns columns_of_line(std::string_view line, const std::function<std::string()>& what);

// The two ways to them: of a row, and, five times as quick, of a line that is untouched and as we
// write them (its members in order, each once). Nothing where a line is not, or is refused.
Columns columns_of(const Row& row);
std::optional<Columns> quick_columns(std::string_view line);

// The name of the first column in which a row of select_rows_sql() differs; null if none does.
const char* differing_column(const Record& row, const Columns& columns);

}  // namespace assay::lab
