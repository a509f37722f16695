// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a case's numbers went from commit to commit, and where they changed.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/decide/match.h"
#include "lab/show/terminal/grid.h"
#include "lab/stats/change_points.h"

namespace assay::lab {

// All attempts of one commit on one machine. A tree with uncommitted changes, or without a known
// commit, is a point of its own for each run.
struct HistoryPoint {
  std::string commit;  // full; empty: not known
  bool dirty = false;
  std::vector<std::string> runs;     // the first says where it stands in time
  Status status = Status::kOk;       // as in a Summary
  int attempts = 0;                  // ok ones
  std::optional<double> median;      // exp of the median of ln(value); nothing: no ok attempt
  std::optional<Interval> interval;  // of the median
  std::string label() const;         // "abc1234", "abc1234+", or the run
};

struct HistoryChange {
  std::size_t before = 0,
              after = 0;  // indices of points: the last of the old, the first of the new
  double ratio = 0;       // new level over old one
  double p = 1;
};

struct HistorySegment {
  std::size_t first = 0, last = 0;  // indices of points with a value, both included
  double level = 0;                 // weighted median
};

struct HistorySeries {
  SeriesId key;
  std::string metric;
  bool more_is_better = false;
  std::vector<HistoryPoint> points;      // in the order of their first runs
  std::vector<HistoryChange> changes;    // none when the series as a whole did not change
  std::vector<HistorySegment> segments;  // of the points with a value; none without any
  double p = 1;                          // of "it never changed"
};

struct HistoryOptions {
  std::string case_name;  // empty: every case
  std::optional<std::string> provider = {};
  std::optional<Json> point = {};  // keys given must be equal, others may be anything
  std::string metric = {};
  double confidence = 0.95;
  ChangeSettings change = {};
};

// One series for each provider at each point on each machine, ordered by key.
std::vector<HistorySeries> history(std::span<const Row> rows, const HistoryOptions& options);

Json history_json(std::span<const HistorySeries> series, const HistoryOptions& options);
std::string history_table(std::span<const HistorySeries> series, const HistoryOptions& options,
                          const TableStyle& style);

// Whether every key of `wanted` is in `point` with that value.
bool point_matches(const Json& point, const Json& wanted);

}  // namespace assay::lab
