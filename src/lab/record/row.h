// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "lab/record/row_parts.h"
#include "lab/record/status.h"

namespace assay::lab {

inline constexpr int kRowSchema = 1;

// What an attempt left behind, whatever happened to it. docs/row.schema.json is the published form;
// it only ever grows. Numbers are never rounded; SI units throughout.
// What nobody wanted measured, or cannot be: it is missing from no result.
bool left_out_on_purpose(Status status, const std::optional<Failure>& failure);

struct Row {
  std::string run_id;      // UTC with microseconds, then the commit: lexical order is time order
  std::string attempt_id;  // make_attempt_id() of the fields below
  std::string suite;
  std::string case_name;
  Json point = Json::object();  // canonical: complete, sorted, with dtype and seed
  std::string provider;
  std::string platform;
  MachineFacts machine;
  int cores = 0;  // of the attempt's core group
  int round = 0;
  int try_number = 0;  // 0, or the repeat after a void attempt
  int order = 0;       // position in the executed order of the run
  Status status = Status::kOk;
  std::optional<Failure> failure;  // nothing iff ok
  std::map<std::string, double> metrics;
  Samples samples;
  std::optional<Fidelity> fidelity;                   // nothing when nothing was judged
  std::optional<std::map<std::string, double>> work;  // nothing when the case has no cost model
  Provenance provenance;
  Json unknown = Json::object();  // top-level fields of later versions, kept as they were

  // The metric's value; NaN when the row does not have it.
  double metric_or_nan(std::string_view name) const;
  // Of the case's cost model: "flops", "bytes", …; nothing when the row does not have it.
  std::optional<double> work_of(const std::string& name) const;
  // What its rows are about: the metric that ratios are made of.
  std::string primary_metric() const { return provenance.primary_metric.value_or("steady_time"); }
  std::string failure_message() const { return failure ? failure->message : ""; }
  // Whether it ended as its provider is meant to: some are there to be refused.
  bool as_expected() const;
};

// The stable identity of an attempt within its run: a hash of exactly these fields.
std::string make_attempt_id(std::string_view case_name, const Json& point,
                            std::string_view provider, std::string_view platform, int cores,
                            int round, int try_number);

// All top-level keys present; NaN and infinities as strings.
Json row_to_json(const Row& row);
// Checks presence and type of every field, unit names included. `what` names the source in errors
// ("run.jsonl:12"). Throws UserError; a row of a newer schema is refused.
Row row_from_json(Json json, std::string_view what);

// One line of a journal, without the newline: the canonical row, and as its last field `check`, the
// CRC-32C of the canonical row without that field, in eight hex digits.
std::string row_to_line(const Row& row);
// Whether the bytes of a line are the very ones that were written.
bool line_is_untouched(std::string_view line);
// Inverse of row_to_line; throws UserError naming `what` when the line is not untouched.
Row row_from_line(std::string_view line, std::string_view what);

}  // namespace assay::lab
