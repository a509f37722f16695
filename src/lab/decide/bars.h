// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bars: what measurements must reach, written in a file beside the rows that are held to them. A
// bar is about one figure of a provider (a time, a rate, a share of a limit), or about the ratio or
// the difference of two. Two figures of one place pair by round; those of two places pair by run,
// where there are runs enough for an interval, and are compared unpaired otherwise.

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "lab/beside/pairs.h"
#include "lab/beside/place.h"
#include "lab/record/row.h"
#include "lab/show/terminal/grid.h"
#include "lab/stats/interval.h"

namespace assay::lab {

// Which rows, and which of their numbers.
struct BarSide {
  std::string case_name, provider, metric = "steady_time";
  // What the rows' points must have; null: what they must not have.
  Json point = Json::object();
  std::optional<int> cores;  // nothing: whatever they have
};

// Which points a bar is about.
enum class BarScope {
  kOne,    // the one that its rows have; more are an error
  kEach,   // every one, or the share of them that is asked for
  kMean,   // the geometric mean over all
  kTotal,  // the sum over all
};

struct Bar {
  std::string what;
  BarSide side;
  // Another figure to divide by, or to subtract. In the same case its point is the side's with the
  // values that it names put in their place; in another case it is found by itself.
  std::optional<BarSide> over, minus;
  double factor = 1;
  std::optional<double> at_least, at_most;  // one of them at least
  BarScope scope = BarScope::kOne;
  double share = 1;  // of the points, with kEach
  int expected = 0;  // points that there must be, with all scopes but kOne; 0: those of the rows
  std::string note;  // said of a miss
};

struct BarTable {
  std::string title;
  std::vector<std::string> commands;  // that made the rows
  std::vector<Bar> bars;
};

struct BarFile {
  std::string title;
  std::map<std::string, std::string> machines;  // names of fingerprints, for people
  std::vector<BarTable> tables;
};

// Throws UserError FILE:LINE: KEY: … for whatever cannot be understood.
BarFile parse_bars(std::string_view text, const std::string& name);

enum class BarVerdict {
  kMet,          // the whole interval is on the right side
  kMissed,       // the whole interval is on the wrong side
  kOpen,         // neither, or too few rounds for an interval
  kWrong,        // an answer was wrong, or an attempt gave none: it can win nothing
  kNotMeasured,  // no rows
};
std::string_view name_of(BarVerdict verdict);

// A bar held to the rows of one machine.
struct BarFigure {
  Json point;  // null where it is about several
  double value = 0;
  std::optional<Interval> interval;
  int rounds = 0;                    // or runs, of two places
  bool paired = true;                // false: not measured in turn, nor in the same several runs
  std::vector<std::string> remarks;  // what a reader must know: no oracle, above the ceiling
  BarVerdict verdict = BarVerdict::kOpen;
};
struct BarResult {
  BarVerdict verdict = BarVerdict::kNotMeasured;
  std::vector<BarFigure> figures;  // one for each point; one of all with kMean, kTotal
  int unmeasured = 0;              // points that should be there and have no figure
};

// The attempts of each provider at each place, in the order they were made.
using RowsBySeries = std::map<SeriesId, RowPointers>;
RowsBySeries by_series(std::span<const Row* const> rows);

// `rows` are those of one machine. Throws UserError where several places answer a bar about one.
BarResult hold_to_bar(const Bar& bar, const RowsBySeries& rows);

// Where and when rows were made.
struct BarMachine {
  std::string name;
  std::size_t attempts = 0;
  std::set<std::string> runs, commits;  // "+ changes" behind a commit: of a tree that had some
  std::string first, last;              // days
};

// Every bar of a file on every machine of the rows.
struct BarOutcome {
  struct Line {
    Bar bar;
    std::vector<BarResult> results;  // one for each machine
  };
  struct Section {
    std::string title;
    std::vector<std::string> commands;
    std::vector<Line> lines;
  };
  std::string title;
  std::vector<BarMachine> machines;
  std::vector<Section> sections;

  bool any(BarVerdict verdict) const;
};
BarOutcome hold_to_bars(const BarFile& file, std::span<const Row> rows);

Json bars_json(const BarOutcome& outcome);
// A page of tables, then the misses in one list, what no row speaks of in another, and where and
// when the rows were made.
std::string bars_markdown(const BarOutcome& outcome);
std::string bars_table(const BarOutcome& outcome, const TableStyle& style);

}  // namespace assay::lab
