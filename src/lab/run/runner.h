// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a plan to rows: the story of a run.

#include <atomic>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lab/record/case.h"
#include "lab/record/request.h"
#include "lab/record/row.h"
#include "lab/run/environment.h"
#include "lab/run/plan.h"
#include "lab/run/provenance.h"
#include "lab/run/run_place.h"

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
  std::string own_program;                          // the executable that is running, for its hash
  SourceTree built_from;                            // what it was built from
  std::function<void(const WorkerSpec&)> run_here;  // for --in-process
  Progress* progress = nullptr;
  const std::atomic<bool>* stop = nullptr;  // becomes true on Ctrl-C
  std::string trace_directory;              // empty: no traces
  // Told of rows once the journal has them, one process's at a time; must not throw.
  std::function<void(std::span<const Row>)> on_rows;
};

struct RunResult {
  std::string run_id;
  std::string journal;
  std::vector<Row> rows;  // of the whole run, earlier parts of a resumed one included
  bool interrupted = false;
};

// The plan alone. Throws UserError for a request that cannot be served.
Plan plan_run(const RunContext& context, const RunRequest& request);

// The same of a run that other machines will make: devices, cores and memory are theirs, and not
// looked at.
Plan outline_run(const RunContext& context, const RunRequest& request);

// SHA-256 of the programs that make a run's rows, by their names.
std::map<std::string, std::string> program_hashes(const RunContext& context);

// Plans and runs a new run; `out` as for new_place().
RunResult start_run(const RunContext& context, const RunRequest& request, const std::string& out);

// Continues a run: only what its journal lacks is run. A share is refused (EnvironmentError) where
// this program or this machine is not the one that it is for.
RunResult resume_run(const RunContext& context, RunPlace place);

}  // namespace assay::lab
