// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Slurm's commands: sbatch, squeue, scancel, sinfo. No accounting is needed: what has left the
// queue is known by what it left in files.

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay::lab {

// Where jobs may go, as a user says it to sbatch.
struct SlurmOptions {
  std::string partition, account, time, constraint;
  int nodes = 0;                      // used at the same time; 0: as many as there are
  int gpus_per_node = 0;              // 0: none are asked for
  std::vector<std::string> excluded;  // nodes
};
Json slurm_options_to_json(const SlurmOptions& options);
SlurmOptions slurm_options_from_json(const Json& json, std::string_view what);

// Seconds of a time limit as Slurm writes it: "90" (minutes), "90:00", "1:30:00", "2-0", "2-12:30".
// Throws UserError.
double slurm_time_s(const std::string& text);

// One job, or one task of an array of jobs.
struct SlurmJob {
  std::string id;  // of the array
  std::optional<int> index;
  std::string name, state;            // "PENDING", "RUNNING", "CANCELLED", …
  std::string reason = {};            // why it waits: "Resources", "PartitionTimeLimit", …
  std::optional<int> exit_code = {};  // of its script, once that has ended by itself
};
// Whether it waits, runs, or will run again.
bool is_active(const SlurmJob& job);
// Whether Slurm itself ended it, before it began, for what was asked for (there is a job of some
// refusals): no other try will do better.
bool was_refused(const SlurmJob& job);

struct SlurmNode {
  std::string name;
  std::string kind;  // what Slurm knows of its hardware: nodes that differ in it are not alike
  bool works = true;
};

// Throws EnvironmentError where this machine has no Slurm.
void need_slurm();
// What a cluster takes.
struct SlurmLimits {
  int tasks_of_array = 1000;  // 0: it has no arrays
  int jobs = 10'000;          // at the same time, of everybody, tasks of arrays each
};
// As Slurm has them by default where it does not say.
SlurmLimits slurm_limits(const std::atomic<bool>& stop);
// The nodes of a partition or of the default one, with every feature of a constraint that is one
// word. Throws EnvironmentError where there is none or none of them works, with what Slurm knows of
// them; Interrupted.
std::vector<SlurmNode> slurm_nodes(const SlurmOptions& options, const std::atomic<bool>& stop);

// Where jobs go, as options that sbatch and srun share.
std::vector<std::string> slurm_placement(const SlurmOptions& options);
// The same as somebody who typed them knows them: without the nodes that were left out by us.
std::string placement_typed(const SlurmOptions& options);
// Submits a script, with more of sbatch's arguments; returns the job's id. Throws EnvironmentError
// with what sbatch says, and to which options.
std::string slurm_submit(const SlurmOptions& options, const std::vector<std::string>& arguments,
                         const std::string& script);
// The same under a job's name, for as long as Slurm does not answer at all, or has no room for one
// more: `wait` is then told why. Nothing when it was stopped meanwhile. An answer to sbatch that
// got lost is no refusal: the name tells.
std::optional<std::string> slurm_submit_patiently(
    const SlurmOptions& options, const std::string& name, std::vector<std::string> arguments,
    const std::string& script, const std::atomic<bool>& stop,
    const std::function<void(const std::string& why)>& wait);
// What Slurm knows of the jobs of these names, those that ended some minutes ago included; nothing
// where it does not answer, or has not when `stop` becomes true, and then `why` says so.
std::optional<std::vector<SlurmJob>> slurm_jobs(const std::vector<std::string>& names,
                                                const std::atomic<bool>& stop,
                                                std::string* why = nullptr);
// Cancels the jobs of these names, and no others. False where Slurm does not answer.
bool slurm_cancel(const std::vector<std::string>& names);
// What a job's script begins with, and the exit code that it has where its node does not see a
// folder of ours.
std::string shell_needs_folder(const std::string& folder);
inline constexpr int kFolderUnseen = 97;
// Says which, and what to do about it.
std::string unseen_folder(const std::string& folder);

// One word for a POSIX shell, whatever is in it.
std::string shell_quoted(std::string_view text);

}  // namespace assay::lab
