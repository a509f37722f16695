// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/exits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/exit_status.h"
#include "lab/decide/gate.h"

namespace assay::lab {
Coverage coverage_of(std::span<const Summary> summaries, std::span<const PointStop> stops,
                     int not_reached) {
  Coverage c;
  c.not_reached = not_reached;
  std::map<std::string, int> why;
  for (const auto& s : summaries) {
    if (s.status == Status::kOk || s.as_expected) {
      ++c.measured;
    } else if (s.status == Status::kWrongResult) {
      ++c.wrong;
    } else if (left_out_on_purpose(s.status, s.failure)) {
      ++c.left_out;
    } else {
      ++c.not_measured;
      ++why[std::string(name_of(s.status))];
    }
  }
  c.open = static_cast<int>(
      std::ranges::count_if(stops, [](const PointStop& stop) { return !stop.met(); }));

  std::vector<std::string> words;
  for (const auto& [status, count] : why) words.push_back(fmt::format("{} {}", count, status));
  if (c.not_measured > 0) {
    c.lacks = fmt::format("{} of {} not measured: {}", c.not_measured,
                          static_cast<int>(summaries.size()) - c.left_out, fmt::join(words, ", "));
  } else if (c.measured + c.wrong == 0) {
    c.lacks = "nothing was measured";
  }
  const auto add = [&](int count, const char* what) {
    if (count > 0) c.lacks += fmt::format("{}{} {}", c.lacks.empty() ? "" : "; ", count, what);
  };
  add(c.not_reached, "not reached within the budget");
  add(c.open, "points not known as well as asked");
  return c;
}

int Coverage::exit_status(bool strict) const {
  if (wrong > 0) return kWrongResults;
  if (measured == 0) return kUnresolved;
  return strict && not_measured + not_reached + open > 0 ? kUnresolved : kFine;
}

int exit_status_of(std::span<const Comparison> comparisons, bool strict) {
  const auto said = [](const Comparison& c) { return c.compared && c.interval.has_value(); };
  if (std::ranges::none_of(comparisons, &Comparison::compared)) return kUnresolved;
  return strict && !std::ranges::all_of(comparisons, said) ? kUnresolved : kFine;
}

bool GateResult::shown_nothing() const {
  using enum GateOutcome;
  return std::ranges::none_of(entries, [](const GateEntry& e) {
    return e.outcome == kPass || e.outcome == kRegressed || e.outcome == kBroken ||
           e.outcome == kRecovered;
  });
}

int GateResult::exit_status(bool strict) const {
  using enum GateOutcome;
  if (count(kBroken) > 0) return kWrongResults;
  if (count(kRegressed) > 0) return kRegression;
  if (count(kUnresolved) > 0 || shown_nothing()) return assay::kUnresolved;
  const int lacking = count(kStillBroken) + count(kNotMeasured) + count(kNew) + count(kDropped) +
                      static_cast<int>(dropped.size());
  const bool uncertain = options.rule == GateRule::kIntervals && !uncalibrated.empty();
  return strict && (lacking > 0 || uncertain) ? assay::kUnresolved : kFine;
}

}  // namespace assay::lab
