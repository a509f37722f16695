// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tasks on nodes that do not see the run's folder. Each is an srun of ours, which carries the share
// there by the task's standard input and its rows back by its standard output, into the very files
// that a task would write. They end with this program, and none is taken up by another: what came
// back is kept, and the rest is submitted again.

#include <atomic>
#include <list>
#include <thread>

#include "lab/cluster/task_jobs.h"

namespace assay::lab {

class CarriedJobs final : public TaskJobs {
 public:
  // An srun is two processes here.
  static constexpr int kMostAtOnce = 64;

  // Cancels what an earlier program left.
  CarriedJobs(const RunContext& context, const Shares& shares, std::string run_id,
              SlurmOptions options);
  ~CarriedJobs() override;

  std::optional<std::string> submit(
      const Submission& submission,
      const std::function<void(const std::string& why)>& wait) override;
  std::optional<std::map<TaskId, SlurmJob>> look(const std::set<TaskId>& tasks,
                                                 std::string& why) override;
  bool cancel() override;

 private:
  struct Carrier {
    TaskId task;
    std::atomic<bool> is_over = false;
    std::thread thread;
  };
  void carry(Carrier& carrier) const;
  std::string name_of(TaskId task) const;

  std::list<Carrier> carriers_;  // under way
  std::set<TaskId> ours_;
  std::atomic<bool> gives_up_ = false;
};

}  // namespace assay::lab
