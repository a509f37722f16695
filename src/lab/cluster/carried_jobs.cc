// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/carried_jobs.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <utility>

#include "base/file.h"
#include "base/process.h"
#include "lab/run/packed_share.h"

namespace assay::lab {
namespace {

// $0 is the share's path, the rest srun with its arguments. A cluster's own words at a task's
// beginning (TaskProlog) are no rows. A status of 1 is srun's own, of a node that was lost: no run
// ends so. What srun says of the end would hide the task's last words.
constexpr const char* kCarry =
    R"({ "$@" <"$0.packed" 2>>"$0.log"; echo $? >"$0.ended"; } | sed -n -u '/^{/p' >>"$0.jsonl"
status=$(cat "$0.ended")
sed -i '/^srun: .*: Exited with exit code /d' "$0.log"
if grep -q '^assay: ' "$0.log"; then sed -i '/^srun: /d' "$0.log"; fi
[ $status = 1 ] || { echo $status >"$0.status.new" && mv "$0.status.new" "$0.status"; }
)";

// Inside of a job srun would start a step of that one; other variables change what goes through it.
// What says where jobs may go stays.
std::vector<std::string> variables_against_srun() {
  constexpr auto kKept = std::to_array<std::string_view>(
      {"SLURM_CONF", "SLURM_CLUSTERS", "SLURM_PARTITION", "SLURM_ACCOUNT", "SLURM_QOS",
       "SLURM_RESERVATION", "SLURM_CONSTRAINT", "SLURM_TIMELIMIT", "SLURM_WCKEY"});
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const auto name = text.substr(0, text.find('='));
    const bool is_of_srun = name.starts_with("SLURM_") || name.starts_with("SRUN_");
    if (is_of_srun && std::ranges::find(kKept, name) == kKept.end()) names.emplace_back(name);
  }
  return names;
}

}  // namespace

CarriedJobs::CarriedJobs(const RunContext& context, const Shares& shares, std::string run_id,
                         SlurmOptions options)
    : TaskJobs(context, shares, std::move(run_id), std::move(options)) {
  CarriedJobs::cancel();
}

CarriedJobs::~CarriedJobs() {
  if (!carriers_.empty()) CarriedJobs::cancel();
  gives_up_ = true;
  for (auto& carrier : carriers_) carrier.thread.join();
}

std::string CarriedJobs::name_of(TaskId task) const {
  return fmt::format("{}-{}", name(task.submission), task.index);
}

std::optional<std::string> CarriedJobs::submit(
    const Submission& submission, const std::function<void(const std::string& why)>& /*wait*/) {
  for (int index = 0; index < static_cast<int>(submission.tasks.size()); ++index) {
    const TaskId task{submission.number, index};
    write_file_atomically(shares_.path_of(task) + ".packed",
                          packed_share(shares_.journal_of(task)));
    ours_.insert(task);
    auto& carrier = carriers_.emplace_back();
    carrier.task = task;
    carrier.thread = std::thread([this, &carrier] { carry(carrier); });
  }
  return "by srun";
}

void CarriedJobs::carry(Carrier& carrier) const {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", kCarry, shares_.path_of(carrier.task), "env"};
  for (const auto& name : variables_against_srun()) spec.argv.push_back("--unset=" + name);
  spec.argv.insert(spec.argv.end(),
                   {"srun", "--quiet", "--job-name=" + name_of(carrier.task), "--nodes=1",
                    "--ntasks=1", "--exclusive", "--mem=0", "--mpi=none", "--chdir=/"});
  for (auto& word : slurm_placement(options_)) spec.argv.push_back(std::move(word));
  spec.argv.insert(spec.argv.end(), {context_.own_program, "run", "--resume", "-", "--quiet"});
  spec.environment = {{"PGPASSWORD", ""}};
  spec.time_limit_s = std::numeric_limits<std::int32_t>::max();
  spec.interrupt = &gives_up_;
  try {
    run_process(spec);
  } catch (const std::exception&) {
    // No process could be made: the task has left nothing, and is submitted again.
  }
  carrier.is_over = true;
}

std::optional<std::map<TaskId, SlurmJob>> CarriedJobs::look(const std::set<TaskId>& tasks,
                                                            std::string& why) {
  std::set<TaskId> under_way;
  for (auto carrier = carriers_.begin(); carrier != carriers_.end();) {
    if (carrier->is_over) {
      carrier->thread.join();
      carrier = carriers_.erase(carrier);
    } else {
      under_way.insert((carrier++)->task);
    }
  }
  std::vector<std::string> names;
  for (const auto& task : tasks) {
    if (ours_.contains(task)) names.push_back(name_of(task));
  }
  const auto jobs = slurm_jobs(names, *context_.stop, &why);
  if (!jobs) return std::nullopt;
  std::map<TaskId, SlurmJob> known;
  for (const auto& task : tasks) {
    const auto job = std::ranges::find(*jobs, name_of(task), &SlurmJob::name);
    if (ours_.contains(task) && job != jobs->end()) known[task] = *job;
    // Its last rows are here once srun has ended, and not before.
    if (under_way.contains(task) && !is_active(known[task])) known[task].state = "COMPLETING";
    if (!under_way.contains(task) && known.contains(task) && is_active(known[task])) {
      known[task].state = "NODE_FAIL";  // srun gave up what Slurm has not yet
    }
  }
  return known;
}

bool CarriedJobs::cancel() {
  auto names = names_of_submissions();
  for (const auto& [task, share] : shares_.open()) names.push_back(name_of(task));
  return slurm_cancel(names);
}

}  // namespace assay::lab
