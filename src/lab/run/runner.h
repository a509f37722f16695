// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a plan to rows: the story of a run.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "lab/record/case.h"
#include "lab/record/row.h"
#include "lab/run/environment.h"
#include "lab/run/plan.h"
#include "lab/run/request.h"

namespace assay::lab {

// Told what happens while it happens. Calls come from several threads, one at a time.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void planned(const Plan& plan, int already_done) = 0;
  virtual void starting(const PointPlan& point, const Contender& contender, int round) = 0;
  virtual void finished(const Row& row) = 0;
  virtual void note(const std::string& message) = 0;
};

// What a run needs from the program around it.
struct RunContext {
  const CaseRegistry* cases = nullptr;
  Programs programs;
  std::string own_program;  // the executable that is running, for its hash
  std::function<void(const WorkerSpec&)> run_here;  // for --in-process
  Progress* progress = nullptr;
  const std::atomic<bool>* stop = nullptr;  // becomes true on Ctrl-C
  std::string trace_directory;              // empty: no traces
};

struct RunResult {
  std::string run_id;
  std::string journal;
  std::vector<Row> rows;  // of the whole run, earlier parts of a resumed one included
  bool interrupted = false;
};

// Plans and runs a new run. `out` is the journal's path, or a folder, or empty for
// results/<run_id>.jsonl. Refuses a journal that already exists.
RunResult start_run(const RunContext& context, const RunRequest& request, const std::string& out);

// Continues a run: `run` is a journal's path, or a run id under results/ (or under `folder`). Only
// what is missing is run.
RunResult resume_run(const RunContext& context, const std::string& run, const std::string& folder);

// The request of a run that can be resumed. Throws UserError when there is no such run.
RunRequest request_of_run(const std::string& run, const std::string& folder);

// The plan alone, for --dry-run.
Plan plan_run(const RunContext& context, const RunRequest& request);

// Seconds from spawn to the end of an empty attempt of a native provider: the harness's own cost.
double measure_harness_overhead(const Programs& programs, const std::vector<int>& cpus);

}  // namespace assay::lab
