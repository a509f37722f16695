// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rows of a run's tasks on their way into the run's journal: each attempt once, whoever brings it,
// and in the order in which they came.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lab/cluster/cluster.h"
#include "lab/record/journal.h"
#include "lab/record/row.h"
#include "lab/run/disturbances.h"
#include "lab/run/runner.h"

namespace assay::lab {

class Gathering {
 public:
  // `known`: rows that the journal has. Context and plan live longer.
  Gathering(const RunContext& context, const Plan& plan, const RunRequest& request,
            std::string run_id, JournalWriter journal, std::vector<Row> known);

  const std::string& journal() const { return journal_.path(); }
  const std::vector<Row>& rows() const { return rows_; }
  // What is known of a point of the plan.
  std::vector<Row> rows_at(std::size_t point) const;
  // Its place in the plan. Throws UserError where the plan has no such point.
  std::size_t index_of(const std::string& case_name, const Json& point) const;

  // What a task wrote, which began with rows that are here. The look hears of new attempts.
  void take(std::vector<Row> rows, Look& look);
  // Into the journal, synced, and then to whoever follows the run.
  void write();
  // Nothing is to come: lines about all of them, and the rows.
  std::vector<std::string> disturbances() const { return disturbances_.sum(); }
  std::vector<Row> release() { return std::move(rows_); }

 private:
  void keep(Row row);

  const RunContext& context_;
  const std::string run_id_;
  JournalWriter journal_;
  std::map<std::string, std::size_t> points_;  // by name
  std::vector<Row> rows_, taken_;
  std::vector<std::vector<std::size_t>> rows_of_point_;
  std::set<std::string> known_;  // attempts
  int next_order_ = 0;
  Disturbances disturbances_;
};

}  // namespace assay::lab
