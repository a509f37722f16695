// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// hyperfine's --export-json. Every timed run is a fresh process: a row each (ProcessRows). It
// measures all of one command, then all of the next, so rows of different commands do not pair. The
// file says nothing of the machine, the date or the version.

#include "base/error.h"
#include "lab/show/exchange/import.h"
#include "lab/show/exchange/json_path.h"

namespace assay::lab {

ImportedFile read_hyperfine(const Json& json, std::string_view what) {
  const Json& results = member(json, "results", what);
  if (!results.is_array()) fail("{}: not a hyperfine file: 'results' is no list", what);
  ImportedFile file;
  file.tool = "hyperfine";
  file.provider = "hyperfine";
  file.isolation = "process";
  const auto rows = rows_of_each(results.size(), what);
  for (const auto& result : results) {
    const auto command = json_field<std::string>(result, "command", what);
    Json point = Json::object();
    if (const auto it = result.find("parameters"); it != result.end() && it->is_object()) {
      point = *it;
    }
    const Json& times = member(result, "times", what);
    if (!times.is_array() || times.empty()) fail("{}: no 'times' of '{}'", what, command);
    const Json& codes = member_or_null(result, "exit_codes");
    const Json& memory = member_or_null(result, "memory_usage_byte");
    ProcessRows processes(file.attempts, times.size(), rows);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (!times[i].is_number()) {
        fail("{}: a time of '{}' is no number: {}", what, command, canonical_json(times[i]));
      }
      ImportedAttempt attempt;
      attempt.benchmark = command;
      attempt.point = point;
      attempt.samples_s = {times[i].get<double>()};
      attempt.batch_calls = 1;
      if (memory.is_array() && i < memory.size() && memory[i].is_number()) {
        attempt.metrics["peak_rss_steady"] = memory[i].get<double>();
      }
      const Json code = codes.is_array() && i < codes.size() ? codes[i] : Json(0);
      if (code != 0) {  // null: ended by a signal
        attempt.status = code.is_null() ? Status::kCrashed : Status::kFailed;
        attempt.failure =
            Failure{"steady", code.is_null() ? "signal" : "exit_code",
                    code.is_null() ? "the command was ended by a signal"
                                   : "the command failed: exit code " + canonical_json(code)};
        if (code.is_number_integer()) attempt.failure->exit_code = code.get<std::int64_t>();
      }
      processes.add(std::move(attempt));
    }
    processes.finish();
  }
  return file;
}

}  // namespace assay::lab
