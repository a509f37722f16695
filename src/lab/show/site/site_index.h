// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rows in the order they were made, and numbers for the things they speak of, so that the rest of a
// page's data can point instead of repeating.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "lab/beside/summary.h"
#include "lab/record/row.h"

namespace assay::lab {

// What a series of measurements has in common: everything but the run.
struct SeriesKey {
  int case_index = 0, point = 0;
  std::string provider, platform;
  int machine = 0, cores = 0;
  std::string isolation;

  auto operator<=>(const SeriesKey&) const = default;
};

struct IndexedRun {
  std::string id;
  std::size_t first = 0, count = 0;  // its rows
};

struct IndexedSummary {
  Summary summary;
  SeriesKey key;
  int run = 0;
  std::vector<int> rows;  // its attempts, in the order they were made
  bool latest = false;    // no later run says anything about the same series
  // Of a comparison of something with itself, or of two builds: a name with an `@`, or the plain
  // one beside it where its run had nothing else at that point. What it says is not about the case.
  bool self = false;
};

class SiteIndex {
 public:
  // Sorts the rows by run, then by their order within it.
  SiteIndex(std::vector<Row> rows, const CaseFactsByName& cases);

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<IndexedRun>& runs() const { return runs_; }
  // One for each series in each run that has rows of it, by run.
  const std::vector<IndexedSummary>& summaries() const { return summaries_; }

  struct Named {
    std::string suite, name;
  };
  const std::vector<Named>& cases() const { return cases_; }
  struct Point {
    int case_index = 0;
    Json values;
  };
  const std::vector<Point>& points() const { return points_; }
  // Fingerprints, in the order of their first row.
  const std::vector<std::string>& machines() const { return machines_; }
  // The key of a series that rows have.
  SeriesKey key_of(const SeriesId& series) const;
  int machine_of(const Row& row) const { return machine_ids_.at(row.machine.fingerprint); }

 private:
  void number(const SeriesId& series);  // what is new in it

  std::vector<Row> rows_;
  std::vector<IndexedRun> runs_;
  std::vector<IndexedSummary> summaries_;
  std::vector<Named> cases_;
  std::map<std::pair<std::string, std::string>, int> case_ids_;
  std::vector<Point> points_;
  std::map<std::pair<int, std::string>, int> point_ids_;
  std::vector<std::string> machines_;
  std::map<std::string, int> machine_ids_;
};

}  // namespace assay::lab
