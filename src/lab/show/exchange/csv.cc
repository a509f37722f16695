// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/exchange/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>
#include <vector>

#include "base/text.h"

namespace assay::lab {
namespace {

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

// Text of rows is anyone's: "=HYPERLINK(…)" must stay text when a spreadsheet opens the file.
std::string text_field(std::string_view raw) {
  auto text = printable(raw);
  if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) {
    text.insert(text.begin(), '\'');
  }
  return field(text);
}

std::string number_field(double value) { return fmt::format("{}", value); }

std::string json_cell(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return text_field(value.get<std::string>());
  return field(canonical_json(value));
}

std::string join(const std::vector<std::string>& fields) {
  return fmt::format("{}\r\n", fmt::join(fields, ","));
}

}  // namespace

std::string rows_to_csv(std::span<const Row> rows) {
  std::set<std::string> metrics, point_keys;
  for (const Row& row : rows) {
    for (const auto& [name, value] : row.metrics) metrics.insert(name);
    for (const auto& [key, value] : row.point.items()) point_keys.insert(key);
  }
  std::vector<std::string> titles = {
      "run_id",        "attempt_id",    "suite",        "case",
      "point",         "provider",      "platform",     "fingerprint",
      "cores",         "round",         "try",          "order",
      "status",        "failure_phase", "failure_code", "failure_message",
      "time_start",    "commit",        "isolation",    "fidelity_status",
      "fidelity_error"};
  for (const auto& key : point_keys) titles.push_back(text_field("point." + key));
  for (const auto& name : metrics) titles.push_back(text_field(name));
  std::string csv = join(titles);
  for (const Row& row : rows) {
    const auto text = [](const std::optional<std::string>& known) {
      return text_field(known.value_or(""));
    };
    const auto failure = row.failure.value_or(Failure());
    const auto fidelity = row.fidelity.value_or(Fidelity());
    const auto error = fidelity.error;
    std::vector<std::string> fields = {text_field(row.run_id),
                                       text_field(row.attempt_id),
                                       text_field(row.suite),
                                       text_field(row.case_name),
                                       text_field(canonical_json(row.point)),
                                       text_field(row.provider),
                                       text_field(row.platform),
                                       text_field(row.machine.fingerprint),
                                       fmt::format("{}", row.cores),
                                       fmt::format("{}", row.round),
                                       fmt::format("{}", row.try_number),
                                       fmt::format("{}", row.order),
                                       std::string(name_of(row.status)),
                                       text_field(failure.phase),
                                       text_field(failure.code),
                                       text_field(failure.message),
                                       text(row.provenance.time_start),
                                       text(row.provenance.commit),
                                       text(row.provenance.isolation),
                                       text_field(fidelity.status),
                                       error ? number_field(*error) : ""};
    for (const auto& key : point_keys) {
      fields.push_back(row.point.contains(key) ? json_cell(row.point[key]) : "");
    }
    for (const auto& name : metrics) {
      const auto it = row.metrics.find(name);
      fields.push_back(it == row.metrics.end() ? "" : number_field(it->second));
    }
    csv += join(fields);
  }
  return csv;
}

}  // namespace assay::lab
