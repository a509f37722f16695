// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A run whose attempts are made by jobs of Slurm. Each task is `assay run` on its share, with a
// journal of its own; this side submits, follows, and gathers every attempt into the one journal
// that a local run would have. What is in the files and what is in Slurm's queue is all there is to
// know: a runner that was killed is continued by another, which finds the jobs by their names.

#include <optional>
#include <string>

#include "lab/cluster/slurm.h"
#include "lab/run/runner.h"

namespace assay::lab {

struct SlurmRunOptions {
  SlurmOptions slurm;
  std::string machine;  // fingerprint that every task's machine must have; empty: any
  // The nodes do not see the run's folder, as its first task found: shares and rows are carried.
  bool carried = false;
};

// As start_run() and resume_run(). Cancels its jobs when the context says stop; what they finished
// is kept. A continued run goes where it was sent before, unless `options` say otherwise. Throws
// EnvironmentError where Slurm refuses, or a node cannot do what it is told; Interrupted where the
// context says stop before there is a run.
RunResult start_slurm_run(const RunContext& context, const RunRequest& request,
                          const std::string& out, const SlurmRunOptions& options);
RunResult resume_slurm_run(const RunContext& context, RunPlace place,
                           const std::optional<SlurmRunOptions>& options);

// Whether this run was begun as jobs of Slurm and is not complete.
bool is_slurm_run(const RunPlace& place);

}  // namespace assay::lab
