// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The jobs of a run's tasks, all those of a submission by one name.

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
  TaskJobs(const TaskJobs&) = delete;
  TaskJobs& operator=(const TaskJobs&) = delete;
  virtual ~TaskJobs() = default;

  // What was submitted, in words; nothing where the run was stopped before Slurm answered (`wait`
  // as for slurm_submit_patiently()). Throws EnvironmentError.
  virtual std::optional<std::string> submit(
      const Submission& submission, const std::function<void(const std::string& why)>& wait) = 0;
  // What is known of these tasks' jobs: nothing where Slurm does not answer.
  virtual std::optional<std::map<TaskId, SlurmJob>> look(const std::set<TaskId>& tasks,
                                                         std::string& why) = 0;
  // Cancels the jobs of every task of this run, those of tasks that are over as well: one that was
  // taken for lost may not be. False where Slurm does not answer.
  virtual bool cancel();

  // How a task that is not active any more has ended: by what it left, and by what Slurm says.
  Look::Ended ended(TaskId task, const std::optional<SlurmJob>& job, bool is_cancelling) const;

 protected:
  std::string name(int submission) const;
  std::vector<std::string> names_of_submissions() const;

  const RunContext& context_;
  const Shares& shares_;
  const std::string run_id_;
  const SlurmOptions options_;
};

// Each submission is an array of batch jobs, which work in the run's folder and go on without this
// program: another one finds them by their names.
class ArrayJobs final : public TaskJobs {
 public:
  using TaskJobs::TaskJobs;
  std::optional<std::string> submit(
      const Submission& submission,
      const std::function<void(const std::string& why)>& wait) override;
  // Tasks that were cancelled while they waited are one job without an index: it stands for those
  // that have none of their own.
  std::optional<std::map<TaskId, SlurmJob>> look(const std::set<TaskId>& tasks,
                                                 std::string& why) override;
};

}  // namespace assay::lab
