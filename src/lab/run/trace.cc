// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/trace.h"

#include <fmt/format.h>

#include "base/file.h"
#include "lab/record/point.h"
#include "lab/record/stage_slices.h"

namespace assay::lab {

void write_trace(const std::string& directory, const Row& row,
                 const std::vector<PhaseTime>& phases) {
  const auto title = fmt::format("{} {} {} round {}", row.case_name, point_label(row.point),
                                 row.provider, row.round);
  Json events = Json::array();
  events.push_back(Json{
      {"ph", "M"}, {"pid", 1}, {"tid", 1}, {"name", "process_name"}, {"args", {{"name", title}}}});
  // Complete events; times in microseconds.
  const auto slice = [&](const char* category, const std::string& name, double start, double us) {
    events.push_back(Json{{"ph", "X"},
                          {"pid", 1},
                          {"tid", 1},
                          {"cat", category},
                          {"name", name},
                          {"ts", start},
                          {"dur", us}});
  };
  for (const auto& phase : phases) {
    const double start = 1e-3 * static_cast<double>(phase.start_ns);
    const double us = 1e-3 * static_cast<double>(phase.end_ns - phase.start_ns);
    slice("phase", phase.name, start, us);
    for (const auto& s : stages_in(row, phase.name, us)) {
      slice("stage", s.name, start + s.start_us, s.us);
    }
  }
  make_directories(directory);
  write_file_atomically(
      directory + "/" + row.attempt_id + ".json",
      canonical_json({{"traceEvents", std::move(events)},
                      {"displayTimeUnit", "ms"},
                      {"otherData", {{"run_id", row.run_id}, {"attempt_id", row.attempt_id}}}}));
}

}  // namespace assay::lab
