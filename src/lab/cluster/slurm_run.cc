// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/slurm_run.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "lab/cluster/dispatch.h"
#include "lab/cluster/predict.h"
#include "lab/cluster/shares.h"
#include "lab/run/disturbances.h"

namespace assay::lab {
namespace {

constexpr double kShortestPauseS = 0.3, kLongestPauseS = 5;
constexpr double kUnseenS = 10;
// Of a task's time limit: predictions are guesses.
constexpr double kShareOfLimit = 0.7;
// Lost work goes before what is new: a point that is begun last decides when the run ends.
constexpr const char* kOrdinaryNice = "--nice=100";

std::string options_path(const Shares& shares) { return shares.folder() + "/options.json"; }

// Where the run goes. It is there before the request is: whoever finds a run knows where it was.
void write_options(const Shares& shares, const std::string& run_id,
                   const SlurmRunOptions& options) {
  const Json record = {{"run_id", run_id},
                       {"slurm", slurm_options_to_json(options.slurm)},
                       {"machine", options.machine}};
  make_directories(shares.folder());
  write_file_atomically(options_path(shares), canonical_json(record) + "\n");
}

std::string point_name(std::string_view case_name, const Json& point) {
  return std::string(case_name) + " " + canonical_json(point);
}

// What a node does with its share. Slurm's SIGTERM goes to every process of a job: the shell waits
// for the program, which ends its attempt and writes what is complete.
std::string job_script(const RunContext& context, const std::string& run_id,
                       const std::string& folder) {
  return fmt::format(
      "#!/bin/sh\n"
      "# A task of run {}, for sbatch --array.\n"
      "trap : TERM INT\n"
      "share={}/$SLURM_ARRAY_TASK_ID\n"
      "exec >>\"$share.log\" 2>&1\n"
      "rm -f \"$share.status\"\n"
      "cd {} || exit 1\n"
      "{} run --resume \"$share.jsonl\" --quiet >/dev/null\n"
      "status=$?\n"
      "echo $status >\"$share.status.new\" && mv \"$share.status.new\" \"$share.status\"\n"
      "case $status in 0|1|3|4) exit 0 ;; esac\n"
      "exit $status\n",
      run_id, shell_quoted(folder), shell_quoted(std::filesystem::current_path().string()),
      shell_quoted(context.own_program));
}

class SlurmRun final : public Cluster {
 public:
  SlurmRun(const RunContext& context, Plan plan, RunPlace place, SlurmRunOptions options)
      : context_(context),
        plan_(std::move(plan)),
        request_(std::move(place.request)),
        run_id_(std::move(place.run_id)),
        options_(std::move(options)),
        journal_(std::move(place.writer.value())),
        shares_(journal_.path()),
        disturbances_(request_.max_foreign) {
    for (std::size_t i = 0; i < plan_.points.size(); ++i) {
      const auto& at = plan_.points[i];
      points_[point_name(at.definition->name(), at.point)] = i;
    }
    rows_of_point_.resize(plan_.points.size());
    for (auto& row : place.rows) keep(std::move(row));
    share_.of = std::filesystem::absolute(journal_.path()).string();
    share_.version = version();
    share_.sha256 = program_hashes(context);
    share_.machine = options_.machine;
  }

  RunResult run(std::size_t nodes) {
    const auto& slurm = options_.slurm;
    context_.progress->planned(plan_, static_cast<int>(rows_.size()));
    DispatchLimits limits;
    limits.nodes = slurm.nodes > 0 ? slurm.nodes : static_cast<int>(nodes);
    limits.at_most = slurm.nodes > 0;
    limits.first_number = shares_.unused_number();
    if (!slurm.time.empty()) limits.longest_task_s = kShareOfLimit * slurm_time_s(slurm.time);
    Dispatcher dispatcher(predicted_work(plan_, request_, rows_), limits);
    for (const auto& [task, share] : shares_.open()) {
      std::vector<std::size_t> points;
      for (const auto& at : share.points) points.push_back(index_of(at.case_name, at.point));
      dispatcher.adopt(task, points);
      open_.insert(task);
    }
    if (!open_.empty()) {
      context_.progress->note(fmt::format("{} submitted before",
                                          plural(static_cast<std::int64_t>(open_.size()), "task")));
    }
    write_options(shares_, run_id_, options_);
    const auto ending = follow(dispatcher, *this, *context_.stop);
    slurm_cancel(all_job_names());  // whatever is left, if anything
    for (const auto& line : disturbances_.sum()) context_.progress->note(line);
    if (ending == Ending::kComplete) shares_.remove();
    if (ending == Ending::kHeld) {
      context_.progress->note(fmt::format("warning: tasks were cancelled, {} not measured whole",
                                          plural(dispatcher.held(), "point")));
    }
    return {run_id_, journal_.path(), std::move(rows_), ending != Ending::kComplete};
  }

  void submit(const Submission& submission) override {
    const auto folder = shares_.folder_of(submission.number);
    std::size_t points = 0;
    for (int index = 0; const auto& task : submission.tasks) {
      const TaskId id{submission.number, index++};
      auto share = share_;
      std::vector<Row> known;
      for (const auto i : task) {
        const auto& at = plan_.points[i];
        share.points.push_back({std::string(at.definition->name()), at.point});
        for (const auto row : rows_of_point_[i]) known.push_back(rows_[row]);
      }
      points += task.size();
      shares_.write(id, run_id_, share, known);
      open_.insert(id);
    }
    const auto script = folder + "/task.sh";
    write_file_atomically(script, job_script(context_, run_id_, folder));
    const auto throttle =
        submission.at_once > 0 ? fmt::format("%{}", submission.at_once) : std::string();
    std::vector<std::string> arguments = {
        fmt::format("--array=0-{}{}", submission.tasks.size() - 1, throttle), "--nodes=1",
        "--ntasks=1", "--exclusive", "--mem=0"};
    if (!submission.urgent) arguments.emplace_back(kOrdinaryNice);
    const auto wait_on = [&](const std::string& why) {
      tell_silence(why);
      wait();
      return !context_.stop->load();
    };
    std::optional<std::string> job;
    try {
      job = slurm_submit_patiently(options_.slurm, job_name(submission.number), arguments, script,
                                   wait_on);
    } catch (const EnvironmentError& e) {
      throw EnvironmentError(with_remedy(e.what()));
    }
    if (!job) return;  // looks tell that it came to nothing
    context_.progress->note(
        fmt::format("{} of {} submitted as job {}",
                    plural(static_cast<std::int64_t>(submission.tasks.size()), "task"),
                    plural(static_cast<std::int64_t>(points), "point"), *job));
    unseen_since_ns_[submission.number] = monotonic_ns();
    pause_s_ = kShortestPauseS;
  }

  Look look() override {
    Look look;
    std::string why;
    const auto jobs = slurm_jobs(job_names(), &why);
    if (!jobs) tell_silence(why);
    is_silent_ = !jobs;
    if (const auto waits = why_one_waits(jobs.value_or(std::vector<SlurmJob>()))) {
      if (waits_.insert(*waits).second) context_.progress->note("warning: " + *waits);
    }
    const auto known = by_task(jobs.value_or(std::vector<SlurmJob>()));
    for (const auto& [task, job] : known) unseen_since_ns_.erase(task.submission);
    const auto open = open_;
    for (const auto& task : open) {
      take(shares_.news(task), look);
      const auto job = known.find(task);
      if (!jobs || (job != known.end() && is_active(job->second))) continue;
      if (may_come(task)) continue;
      const bool closed = shares_.close(task, [&](std::vector<Row> rows) {
        take(std::move(rows), look);
        write_gathered();
      });
      if (!closed) continue;
      open_.erase(task);
      look.ended.push_back(ended(task, job == known.end() ? "" : job->second.state));
      pause_s_ = kShortestPauseS;
    }
    write_gathered();
    if (is_cancelling_ && !open_.empty()) cancel();
    return look;
  }

  void cancel() override {
    is_cancelling_ = true;
    slurm_cancel(all_job_names());  // looks do it again for as long as something is left
    pause_s_ = kShortestPauseS;
  }

  void wait() override {
    const auto until = monotonic_ns() + static_cast<std::int64_t>(1e9 * pause_s_);
    while (monotonic_ns() < until && (is_cancelling_ || !context_.stop->load())) ::usleep(50'000);
    pause_s_ = std::min(kLongestPauseS, 1.2 * pause_s_);
  }

 private:
  std::string job_name(int submission) const {
    return fmt::format("assay-{}-{}", run_id_, submission);
  }

  std::vector<std::string> job_names() const {
    std::vector<std::string> names;
    for (int last = 0; const auto& task : open_) {
      if (std::exchange(last, task.submission) != task.submission) {
        names.push_back(job_name(task.submission));
      }
    }
    return names;
  }

  void tell_silence(const std::string& why) {
    if (std::exchange(is_silent_, true)) return;
    context_.progress->note("warning: Slurm does not answer, its jobs go on: " + why);
  }

  // Those of tasks that are over as well: one that was taken for lost may not be.
  std::vector<std::string> all_job_names() const {
    std::vector<std::string> names;
    for (int number = 1; number < shares_.unused_number(); ++number) {
      names.push_back(job_name(number));
    }
    return names;
  }

  // Whether Slurm may not have noticed yet what it accepted a moment ago.
  bool may_come(TaskId task) const {
    const auto since = unseen_since_ns_.find(task.submission);
    return since != unseen_since_ns_.end() && !shares_.status(task) &&
           static_cast<double>(monotonic_ns() - since->second) < 1e9 * kUnseenS;
  }

  std::size_t index_of(const std::string& case_name, const Json& point) const {
    const auto it = points_.find(point_name(case_name, point));
    if (it == points_.end()) {
      fail("the run has no such point of '{}': {}", case_name, canonical_json(point));
    }
    return it->second;
  }

  // Jobs by what they are tasks of. Tasks that were cancelled while they waited are one job without
  // an index: it stands for those that have none of their own.
  std::map<TaskId, SlurmJob> by_task(const std::vector<SlurmJob>& jobs) const {
    std::map<std::string, int> number_of;
    for (const auto& task : open_) number_of[job_name(task.submission)] = task.submission;
    std::map<TaskId, SlurmJob> tasks;
    for (const auto& job : jobs) {
      const auto number = number_of.find(job.name);
      if (number == number_of.end()) continue;
      if (job.index) {
        auto& there = tasks[{number->second, *job.index}];
        if (!is_active(there)) there = job;
      } else {
        for (const auto& task : open_) {
          if (task.submission == number->second) tasks.try_emplace(task, job);
        }
      }
    }
    return tasks;
  }

  Look::Ended ended(TaskId task, const std::string& state) const {
    const auto status = shares_.status(task);
    const auto words = shares_.last_words(task);
    if (status && (*status == 0 || *status == 1 || *status == 3 || *status == 4)) {
      return {task, Fate::kDone, ""};
    }
    const auto why = fmt::format(
        "{} (job {} of {}{})",
        words.empty() ? "it left nothing: do the nodes see the journal's folder?" : words,
        task.index, job_name(task.submission), state.empty() ? "" : ", " + state);
    // Status 130 says no more than that somebody ended the task: Slurm does when its time is over.
    if (state == "CANCELLED" || is_cancelling_) return {task, Fate::kCancelled, why};
    // Its own word that it cannot be done; what ended it otherwise may go well elsewhere.
    if (status == 2 || status == 5) return {task, Fate::kRefused, why};
    context_.progress->note(fmt::format("lost: {}", why));
    return {task, Fate::kLost, why};
  }

  // What a task wrote, each attempt once: it began with rows that are here.
  void take(std::vector<Row> rows, Look& look) {
    for (auto& row : rows) {
      if (row.run_id != run_id_ || !known_.insert(row.attempt_id).second) continue;
      if (!is_void(row.status)) {
        look.attempted.push_back(
            {index_of(row.case_name, row.point), row.provenance.duration_s.value_or(0)});
      }
      row.order = next_order_++;
      gathered_.push_back(std::move(row));
    }
  }

  void write_gathered() {
    if (gathered_.empty()) return;
    journal_.append(gathered_);
    if (context_.on_rows) context_.on_rows(gathered_);
    for (auto& row : gathered_) {
      for (const auto& line : disturbances_.notice(row)) context_.progress->note(line);
      context_.progress->finished(row);
      keep(std::move(row));
    }
    gathered_.clear();
  }

  void keep(Row row) {
    known_.insert(row.attempt_id);
    next_order_ = std::max(next_order_, row.order + 1);
    const auto at = points_.find(point_name(row.case_name, row.point));
    if (at != points_.end()) rows_of_point_[at->second].push_back(rows_.size());
    rows_.push_back(std::move(row));
  }

  std::string with_remedy(const std::string& why) const {
    return fmt::format("{}; when that is mended: assay run --resume {}", why, journal_.path());
  }

  const RunContext& context_;
  const Plan plan_;
  const RunRequest request_;
  const std::string run_id_;
  const SlurmRunOptions options_;
  JournalWriter journal_;
  Shares shares_;
  RunShare share_;  // what all of them have in common
  std::map<std::string, std::size_t> points_;
  std::set<TaskId> open_;
  std::vector<Row> rows_, gathered_;
  std::vector<std::vector<std::size_t>> rows_of_point_;
  std::set<std::string> known_;  // attempts
  int next_order_ = 0;
  Disturbances disturbances_;
  double pause_s_ = kShortestPauseS;
  std::map<int, std::int64_t> unseen_since_ns_;  // submissions that no answer had yet
  std::set<std::string> waits_;                  // why, as it was told
  bool is_cancelling_ = false, is_silent_ = false;
};

// A budget is time of one machine, shared out among points by who measures them.
void check_for_slurm(const RunContext& context, const RunRequest& request) {
  if (request.budget_s > 0) {
    fail(
        "--budget is for one machine; with --executor slurm the limit of a task is --time, got "
        "--budget {} s",
        request.budget_s);
  }
  if (!context.trace_directory.empty()) {
    fail("--trace is for one machine, not for --executor slurm: '{}'", context.trace_directory);
  }
}

}  // namespace

RunResult start_slurm_run(const RunContext& context, const RunRequest& request,
                          const std::string& out, const SlurmRunOptions& options) {
  need_slurm();
  check_for_slurm(context, request);
  auto plan = outline_run(context, request);
  const auto nodes = slurm_nodes(options.slurm).size();
  const auto run_id = make_run_id(realtime_ns(), tree_of(request, context.built_from));
  auto place = new_place(request, run_id, out, [&](const std::string& journal) {
    write_options(Shares(journal), run_id, options);
  });
  return SlurmRun(context, std::move(plan), std::move(place), options).run(nodes);
}

RunResult resume_slurm_run(const RunContext& context, RunPlace place,
                           const std::optional<SlurmRunOptions>& typed) {
  need_slurm();
  check_for_slurm(context, place.request);
  const auto path = options_path(Shares(place.journal));
  SlurmRunOptions options;
  if (typed) {
    options = *typed;
  } else {
    const auto record = read_json_file(path);
    options.slurm = slurm_options_from_json(json_field<Json>(record, "slurm", path), path);
    options.machine = json_field<std::string>(record, "machine", path);
  }
  auto plan = outline_run(context, place.request);
  const auto nodes = slurm_nodes(options.slurm).size();
  return SlurmRun(context, std::move(plan), std::move(place), options).run(nodes);
}

bool is_slurm_run(const RunPlace& place) {
  const auto path = options_path(Shares(place.journal));
  if (!std::filesystem::exists(path)) return false;
  // One that was killed before it had a request may have left the folder to another.
  return json_field<std::string>(read_json_file(path), "run_id", path) == place.run_id;
}

}  // namespace assay::lab
