// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/task_jobs.h"

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/exit_status.h"
#include "base/file.h"

namespace assay::lab {
namespace {

// Lost work goes before what is new: a point that is begun last decides when the run ends.
constexpr const char* kOrdinaryNice = "--nice=100";

// What a node does with its share. Slurm's SIGTERM goes to every process of a job: the shell waits
// for the program, which ends its attempt and writes what is complete.
std::string script_of(const RunContext& context, const std::string& run_id,
                      const std::string& folder) {
  const auto here = std::filesystem::current_path().string();
  return fmt::format(
      "#!/bin/sh\n"
      "# A task of run {}, for sbatch --array.\n"
      "{}"
      "trap : TERM INT\n"
      "share={}/$SLURM_ARRAY_TASK_ID\n"
      "exec >>\"$share.log\" 2>&1\n"
      "rm -f \"$share.status\"\n"
      "finish() {{\n"
      "  echo $1 >\"$share.status.new\" && mv \"$share.status.new\" \"$share.status\"\n"
      "  case $1 in 0|1|3|4) exit 0 ;; esac\n"
      "  exit $1\n"
      "}}\n"
      "cd {} 2>/dev/null || {{ echo {}; finish {}; }}\n"
      "{} run --resume \"$share.jsonl\" --quiet >/dev/null\n"
      "finish $?\n",
      run_id, shell_needs_folder(folder), shell_quoted(folder), shell_quoted(here),
      shell_quoted(unseen_folder(here)), kEnvironmentRefused, shell_quoted(context.own_program));
}

bool is_judgement(int status) {
  return status == kFine || status == kRegression || status == kUnresolved ||
         status == kWrongResults;
}

}  // namespace

TaskJobs::TaskJobs(const RunContext& context, const Shares& shares, std::string run_id,
                   SlurmOptions options)
    : context_(context),
      shares_(shares),
      run_id_(std::move(run_id)),
      options_(std::move(options)) {}

std::string TaskJobs::name(int submission) const {
  return fmt::format("assay-{}-{}", run_id_, submission);
}

std::optional<std::string> ArrayJobs::submit(
    const Submission& submission, const std::function<void(const std::string& why)>& wait) {
  const auto folder = shares_.folder_of(submission.number);
  const auto script = folder + "/task.sh";
  write_file_atomically(script, script_of(context_, run_id_, folder));
  const auto throttle =
      submission.at_once > 0 ? fmt::format("%{}", submission.at_once) : std::string();
  std::vector<std::string> arguments = {
      fmt::format("--array=0-{}{}", submission.tasks.size() - 1, throttle), "--nodes=1",
      "--ntasks=1", "--exclusive", "--mem=0"};
  if (!submission.urgent) arguments.emplace_back(kOrdinaryNice);
  const auto id = slurm_submit_patiently(options_, name(submission.number), arguments, script,
                                         *context_.stop, wait);
  return id ? std::optional("as job " + *id) : std::nullopt;
}

std::optional<std::map<TaskId, SlurmJob>> ArrayJobs::look(const std::set<TaskId>& tasks,
                                                          std::string& why) {
  std::map<std::string, int> number_of;
  for (const auto& task : tasks) number_of[name(task.submission)] = task.submission;
  std::vector<std::string> names;
  for (const auto& [name, number] : number_of) names.push_back(name);
  const auto jobs = slurm_jobs(names, *context_.stop, &why);
  if (!jobs) return std::nullopt;
  std::map<TaskId, SlurmJob> known;
  for (const auto& job : *jobs) {
    const auto number = number_of.find(job.name);
    if (number == number_of.end()) continue;
    if (job.index) {
      auto& there = known[{number->second, *job.index}];
      if (!is_active(there)) there = job;
    } else {
      for (const auto& task : tasks) {
        if (task.submission == number->second) known.try_emplace(task, job);
      }
    }
  }
  return known;
}

std::vector<std::string> TaskJobs::names_of_submissions() const {
  std::vector<std::string> names;
  for (int number = 1; number < shares_.unused_number(); ++number) names.push_back(name(number));
  return names;
}

bool TaskJobs::cancel() { return slurm_cancel(names_of_submissions()); }

Look::Ended TaskJobs::ended(TaskId task, const std::optional<SlurmJob>& job,
                            bool is_cancelling) const {
  const auto status = shares_.status(task);
  if (status && is_judgement(*status)) return {task, Fate::kDone, ""};
  const auto state = job ? job->state : "";
  const auto words = shares_.last_words(task);
  const auto why =
      fmt::format("{} (job {} of {}{})", words.empty() ? "it left nothing" : words, task.index,
                  name(task.submission), state.empty() ? "" : ", " + state);
  // Status 130 says no more than that somebody ended the task: Slurm does when its time is over.
  if (state == "CANCELLED" || is_cancelling) return {task, Fate::kCancelled, why};
  if (job && job->exit_code == kFolderUnseen) {
    return {task, Fate::kRefused, unseen_folder(shares_.folder())};
  }
  if (job && was_refused(*job)) {
    return {task, Fate::kRefused,
            fmt::format("Slurm refused {} ({}), which was asked for with: {}",
                        name(task.submission), job->reason, placement_typed(options_))};
  }
  // Its own word that it cannot be done; what ended it otherwise may go well elsewhere.
  if (status == kBadInput || status == kEnvironmentRefused) return {task, Fate::kRefused, why};
  return {task, Fate::kLost, why};
}

}  // namespace assay::lab
