// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "lab/record/point.h"

namespace assay::lab {

std::vector<PointStop> stops_of(std::span<const Row> rows) {
  struct Last {
    int order = -1;             // of all rows
    const Row* said = nullptr;  // the last that says something
  };
  std::map<std::tuple<std::string, std::string, Json>, Last> points;
  for (const auto& row : rows) {
    Last& last = points[{row.run_id, row.case_name, row.point}];
    last.order = std::max(last.order, row.order);
    if (!row.provenance.stopping) continue;
    if (last.said == nullptr || last.said->order < row.order) last.said = &row;
  }
  std::vector<PointStop> stops;
  for (const auto& [key, last] : points) {
    const Row* const row = last.said;
    if (row == nullptr) continue;
    // A run that got more after its budget was spent went on.
    if (row->provenance.stopping->decision == "budget" && row->order < last.order) continue;
    stops.push_back({row->run_id, row->case_name, row->point, *row->provenance.stopping});
  }
  return stops;
}

namespace {

std::string reached(const StopRecord& stopping) {
  const auto worst = stopping.worst;
  // Without a precision to reach, nobody has looked at the ratios.
  if (!worst) return stopping.target ? "no ratio" : "ended";
  if (!std::isfinite(*worst)) return "no interval yet";
  return fmt::format("±{:.2g} %", 100 * *worst);
}

}  // namespace

std::vector<std::string> stopping_lines(std::span<const PointStop> stops) {
  std::vector<std::string> lines;
  const auto asked =
      std::ranges::find_if(stops, [](const PointStop& s) { return s.stopping.target.has_value(); });
  if (asked != stops.end()) {
    lines.push_back(fmt::format("precision ±{:.3g} %: reached at {} of {} points",
                                100 * *asked->stopping.target,
                                std::ranges::count_if(stops, &PointStop::met), stops.size()));
  }
  for (const auto& stop : stops) {
    const auto decision = stop.stopping.decision;
    if (stop.met()) continue;
    const char* why = decision == "budget"      ? "the budget was spent"
                      : decision == "exhausted" ? "the last look has passed"
                      : decision == "no_ratio"  ? "nothing to compare with"
                                                : "the run was stopped";
    lines.push_back(fmt::format("{} {}: {} after {} rounds, {}", stop.case_name,
                                point_label(stop.point), reached(stop.stopping),
                                stop.stopping.rounds.value_or(0), why));
  }
  return lines;
}

}  // namespace assay::lab
