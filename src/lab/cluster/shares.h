// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What passes between a run on a cluster and its tasks: files in a folder beside the run's journal,
// `JOURNAL.slurm`, which the nodes see as well. Of task 7 of the second submission, 2/7.jsonl is
// its journal and 2/7.jsonl.request.json the record that makes it a share of the run; 2/7.log is
// what it says, and 2/7.status its exit status once it has come to an end by itself. A task is open
// for as long as it has a record: who takes it up later finds it by that.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/cluster/cluster.h"
#include "lab/record/row.h"
#include "lab/run/run_place.h"

namespace assay::lab {

class Shares {
 public:
  explicit Shares(const std::string& journal);

  const std::string& folder() const { return folder_; }
  // Where the run goes: a run that has this is one on a cluster.
  std::string options() const { return folder_ + "/options.json"; }
  std::string folder_of(int submission) const;
  std::string journal_of(TaskId task) const;
  // What the names of all files of a task begin with.
  std::string path_of(TaskId task) const;

  // Submissions are numbered, and no number is used again: jobs have it in their names.
  int unused_number() const;

  // Tasks that are open, with their points.
  std::map<TaskId, RunShare> open() const;
  void write(TaskId task, const std::string& run_id, const RunShare& share,
             std::span<const Row> rows);

  // Rows that are there since the last time, those that the task began with at most once. Throws
  // UserError where one is damaged, with what brings the run on.
  std::vector<Row> news(TaskId task);
  // The end of the task: `take` gets its last rows, and only then the record goes, so that nothing
  // is lost by who is killed in between. False where it is still being written, which is so on a
  // node that was given up and has not noticed.
  bool close(TaskId task, const std::function<void(std::vector<Row>)>& take);

  std::optional<int> status(TaskId task) const;
  // The last line of what it said.
  std::string last_words(TaskId task) const;
  // Nothing is left of them. Whoever is killed meanwhile leaves what can be removed again: the
  // options go last.
  void remove() const;

 private:
  std::string folder_;
  std::map<TaskId, std::size_t> read_;  // bytes of journals
};

}  // namespace assay::lab
