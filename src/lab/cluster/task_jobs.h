// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The jobs of a run's tasks: an array of them for each submission, found again by its name.

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lab/cluster/cluster.h"
#include "lab/cluster/shares.h"
#include "lab/cluster/slurm.h"
#include "lab/run/runner.h"

namespace assay::lab {

class TaskJobs {
 public:
  // All of these live longer.
  TaskJobs(const RunContext& context, const Shares& shares, std::string run_id,
           SlurmOptions options);

  // The job's id; nothing where the run was stopped before Slurm answered (`wait` as for
  // slurm_submit_patiently()). Throws EnvironmentError.
  std::optional<std::string> submit(const Submission& submission,
                                    const std::function<void(const std::string& why)>& wait);
  // What Slurm knows of these tasks: nothing where it does not answer. Those that were cancelled
  // while they waited are one job without an index: it stands for those that have none of their
  // own.
  std::optional<std::map<TaskId, SlurmJob>> look(const std::set<TaskId>& tasks, std::string& why);
  // Cancels the jobs of every task of this run, those of tasks that are over as well: one that was
  // taken for lost may not be. False where Slurm does not answer.
  bool cancel();

  // How a task that is not active any more has ended: by what it left, and by what Slurm says.
  Look::Ended ended(TaskId task, const std::optional<SlurmJob>& job, bool is_cancelling) const;

 private:
  std::string name(int submission) const;

  const RunContext& context_;
  const Shares& shares_;
  const std::string run_id_;
  const SlurmOptions options_;
};

}  // namespace assay::lab
