// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/columns.h"

#include "base/json.h"

namespace assay::lab {

std::string insert_row_sql() {
  return fmt::format(
      "INSERT INTO attempt ({}, sequence, line) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
      " ON CONFLICT (run_id, attempt_id) DO NOTHING",
      kColumnNames);
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

void bind_columns(Statement& statement, const Columns& c) {
  statement.bind(c.run_id)
      .bind(c.attempt_id)
      .bind(c.suite)
      .bind(c.case_name)
      .bind(c.point)
      .bind(c.provider)
      .bind(c.platform)
      .bind(c.fingerprint)
      .bind(c.cores)
      .bind(c.round)
      .bind(c.try_number)
      .bind(c.executed)
      .bind(c.status);
}

Columns read_columns(const Statement& statement, int first) {
  int column = first;
  const auto text = [&] { return std::string(statement.text(column++)); };
  const auto number = [&] { return statement.number(column++); };
  Columns c;
  c.run_id = text();
  c.attempt_id = text();
  c.suite = text();
  c.case_name = text();
  c.point = text();
  c.provider = text();
  c.platform = text();
  c.fingerprint = text();
  c.cores = number();
  c.round = number();
  c.try_number = number();
  c.executed = number();
  c.status = text();
  return c;
}

std::string differing_column(const Columns& a, const Columns& b) {
  if (a.run_id != b.run_id) return "run_id";
  if (a.attempt_id != b.attempt_id) return "attempt_id";
  if (a.suite != b.suite) return "suite";
  if (a.case_name != b.case_name) return "case_name";
  if (a.point != b.point) return "point";
  if (a.provider != b.provider) return "provider";
  if (a.platform != b.platform) return "platform";
  if (a.fingerprint != b.fingerprint) return "fingerprint";
  if (a.cores != b.cores) return "cores";
  if (a.round != b.round) return "round";
  if (a.try_number != b.try_number) return "try";
  if (a.executed != b.executed) return "executed";
  return "status";
}

}  // namespace assay::lab
