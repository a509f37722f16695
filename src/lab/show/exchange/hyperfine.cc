// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// hyperfine's --export-json. Every timed run is a fresh process: a row each. hyperfine measures all
// of one command, then all of the next, so rows of different commands do not pair. The file says
// nothing of the machine, the date or the version.

#include "base/error.h"
#include "lab/show/exchange/import.h"

namespace assay::lab {

ImportedFile read_hyperfine(const Json& json, std::string_view what) {
  const auto results = json_field<Json>(json, "results", what);
  if (!results.is_array()) fail("{}: not a hyperfine file: 'results' is no list", what);
  ImportedFile file;
  file.tool = "hyperfine";
  file.provider = "hyperfine";
  file.isolation = "process";
  for (const auto& result : results) {
    const auto command = json_field<std::string>(result, "command", what);
    Json point = Json::object();
    if (const auto it = result.find("parameters"); it != result.end() && it->is_object()) {
      point = *it;
    }
    const auto times = json_field<Json>(result, "times", what);
    if (!times.is_array() || times.empty()) fail("{}: no 'times' of '{}'", what, command);
    const Json codes = result.contains("exit_codes") ? result["exit_codes"] : Json::array();
    const Json memory =
        result.contains("memory_usage_byte") ? result["memory_usage_byte"] : Json::array();
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
      file.attempts.push_back(std::move(attempt));
    }
  }
  return file;
}

}  // namespace assay::lab
