// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/columns.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "lab/record/quick_json.h"
#include "lab/store/database.h"

namespace assay::lab {
namespace {

using Element = simdjson::dom::element;

template <std::size_t kCount>
using Members = std::array<std::optional<Element>, kCount>;

// The members of these names, which are in order. Nothing where it is no object, or its members are
// not in order, each once.
template <std::size_t kCount>
std::optional<Members<kCount>> members_of(Element from,
                                          const std::array<std::string_view, kCount>& names) {
  simdjson::dom::object object;
  if (from.get(object)) return std::nullopt;
  Members<kCount> members;
  std::string_view before;
  std::size_t next = 0;
  for (const auto [key, value] : object) {
    if (key == "check") continue;  // the last of a line, and of no meaning elsewhere
    if (key <= before && !before.empty()) return std::nullopt;
    before = key;
    while (next < kCount && names[next] < key) ++next;
    if (next < kCount && names[next] == key) members[next] = value;
  }
  return members;
}

bool are_numbers(Element values) {
  simdjson::dom::object object;
  if (values.get(object)) return false;
  for (const auto [key, value] : object) {
    if (value.is_number()) continue;
    std::string_view text;
    if (value.get(text) || (text != "nan" && text != "inf" && text != "-inf")) return false;
  }
  return true;
}

}  // namespace

std::optional<Columns> quick_columns(std::string_view line) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"attempt_id", "case",     "cores",  "failure",    "fidelity", "machine", "metrics",
       "order",      "platform", "point",  "provenance", "provider", "round",   "run_id",
       "samples",    "schema",   "status", "suite",      "try",      "work"});
  static_assert(std::ranges::is_sorted(kNames));  // as in a line
  const auto value = line_is_untouched(line) ? quick_parse(line) : std::nullopt;
  const auto members = value ? members_of(*value, kNames) : std::nullopt;
  if (!members) return std::nullopt;
  bool is_sound = std::ranges::all_of(*members, [](const auto& member) { return bool{member}; });
  if (!is_sound) return std::nullopt;
  const auto& [attempt_id, case_name, cores, failure, fidelity, machine, metrics, order, platform,
               point, provenance, provider, round, run_id, samples, schema, status_name, suite,
               try_number, work] = *members;

  const auto text = [&](const std::optional<Element>& element) {
    std::string_view found;
    is_sound = !element->get(found) && is_sound;
    return std::string(found);
  };
  const auto number = [&](const std::optional<Element>& element) {
    std::int64_t found = -1;
    is_sound = !element->get(found) && found >= 0 && std::in_range<int>(found) && is_sound;
    return found;
  };
  // Of a member's member, which may be missing, or null.
  const auto text_in = [&](const std::optional<Element>& element, std::string_view name) {
    const auto inner = members_of(*element, std::array{name});
    is_sound = inner && is_sound;
    return inner && (*inner)[0] && !(*inner)[0]->is_null() ? text((*inner)[0]) : "";
  };
  const auto status = find_status(text(status_name));
  const bool is_ok = status == Status::kOk;
  if (!status || number(schema) != kRowSchema || !point->is_object() || !samples->is_object() ||
      !are_numbers(*metrics) || !(work->is_null() || are_numbers(*work)) ||
      !(is_ok ? failure->is_null() : failure->is_object()) ||
      (!fidelity->is_null() && text_in(fidelity, "status") == Fidelity::kFail && is_ok)) {
    return std::nullopt;
  }
  Columns columns = {text(run_id),
                     text(attempt_id),
                     text(suite),
                     text(case_name),
                     canonical_json(json_of(*point)),
                     text(provider),
                     text(platform),
                     text_in(machine, "fingerprint"),
                     number(cores),
                     number(round),
                     number(try_number),
                     number(order),
                     text(status_name),
                     text_in(provenance, "isolation")};
  return is_sound ? std::optional(std::move(columns)) : std::nullopt;
}

Columns columns_of_line(std::string_view line, const std::function<std::string()>& what) {
  auto columns = quick_columns(line);
  return columns ? std::move(*columns) : columns_of(row_from_line(line, what()));
}

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
