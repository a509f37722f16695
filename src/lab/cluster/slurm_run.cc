// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/slurm_run.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "lab/cluster/carried_jobs.h"
#include "lab/cluster/dispatch.h"
#include "lab/cluster/gathering.h"
#include "lab/cluster/predict.h"
#include "lab/cluster/shares.h"
#include "lab/cluster/slurm_waits.h"
#include "lab/cluster/task_jobs.h"
#include "lab/run/disk_ends_run.h"

namespace assay::lab {
namespace {

constexpr double kShortestPauseS = 0.3, kLongestPauseS = 5;
constexpr double kUnseenS = 10;
constexpr double kUntilJobsEndS = 30;  // that were cancelled
// Of a task's time limit: predictions are guesses.
constexpr double kShareOfLimit = 0.7;

// Where the run goes. It is there before the request is: whoever finds a run knows where it was.
void write_options(const Shares& shares, const std::string& run_id,
                   const SlurmRunOptions& options) {
  const Json record = {{"run_id", run_id},
                       {"slurm", slurm_options_to_json(options.slurm)},
                       {"machine", options.machine},
                       {"carried", options.carried}};
  make_directories(shares.folder());
  write_file_atomically(shares.options(), canonical_json(record) + "\n");
}

class SlurmRun final : public Cluster {
 public:
  SlurmRun(const RunContext& context, Plan plan, RunPlace place, SlurmRunOptions options)
      : context_(context),
        plan_(std::move(plan)),
        request_(std::move(place.request)),
        run_id_(std::move(place.run_id)),
        options_(std::move(options)),
        shares_(place.journal),
        gathering_(context, plan_, request_, run_id_, std::move(place.writer.value()),
                   std::move(place.rows)) {
    share_.of = std::filesystem::absolute(place.journal).string();
    share_.version = version();
    share_.sha256 = program_hashes(context);
    share_.machine = options_.machine;
    choose_jobs();
  }

  RunResult run(std::size_t nodes) {
    context_.progress->planned(plan_, static_cast<int>(gathering_.rows().size()));
    Ending ending;
    try {
      ending = dispatch(nodes);
    } catch (const EnvironmentError&) {
      if (!std::exchange(is_unseen_, false) || !find_program("srun")) throw;
      context_.progress->note(fmt::format(
          "the nodes do not see this folder: rows come back over srun, for as long as this program "
          "lives, of {} nodes at the same time at most: '{}'",
          CarriedJobs::kMostAtOnce, shares_.folder()));
      options_.carried = true;
      is_cancelling_ = false;
      choose_jobs();
      ending = dispatch(nodes);
    }
    for (const auto& line : gathering_.disturbances()) context_.progress->note(line);
    if (ending == Ending::kComplete) shares_.remove();
    return {run_id_, gathering_.journal(), gathering_.release(), ending != Ending::kComplete};
  }

  Ending dispatch(std::size_t nodes) {
    const auto& slurm = options_.slurm;
    DispatchLimits limits;
    limits.nodes = slurm.nodes > 0 ? slurm.nodes : static_cast<int>(nodes);
    limits.at_most = slurm.nodes > 0;
    if (options_.carried) {
      limits.nodes = std::min(limits.nodes, CarriedJobs::kMostAtOnce);
      limits.at_most = true;
    }
    limits.first_number = shares_.unused_number();
    const auto most = slurm_limits(*context_.stop);
    if (most.tasks_of_array < 1 && !options_.carried) {
      throw EnvironmentError(
          fmt::format("Slurm takes no arrays of jobs here, which points go in: MaxArraySize is {}",
                      most.tasks_of_array));
    }
    limits.tasks_of_submission = static_cast<std::size_t>(std::max(1, most.tasks_of_array));
    limits.tasks_at_once = static_cast<std::size_t>(std::max(1, most.jobs / 2));
    if (!slurm.time.empty()) limits.longest_task_s = kShareOfLimit * slurm_time_s(slurm.time);
    Dispatcher dispatcher(predicted_work(plan_, request_, gathering_.rows()), limits);
    for (const auto& [task, share] : shares_.open()) {
      std::vector<std::size_t> points;
      for (const auto& at : share.points) {
        points.push_back(gathering_.index_of(at.case_name, at.point));
      }
      dispatcher.adopt(task, points);
      open_.insert(task);
    }
    if (!open_.empty()) {
      context_.progress->note(fmt::format("{} submitted before",
                                          plural(static_cast<std::int64_t>(open_.size()), "task")));
    }
    write_options(shares_, run_id_, options_);
    const auto ending = followed(dispatcher);
    jobs_->cancel();  // whatever is left, if anything
    if (ending == Ending::kHeld) {
      context_.progress->note(fmt::format("warning: tasks were cancelled, {} not measured whole",
                                          plural(dispatcher.held(), "point")));
    }
    return ending;
  }

  void submit(const Submission& submission) override {
    std::size_t points = 0;
    for (int index = 0; const auto& task : submission.tasks) {
      const TaskId id{submission.number, index++};
      auto share = share_;
      std::vector<Row> known;
      for (const auto i : task) {
        const auto& at = plan_.points[i];
        share.points.push_back({std::string(at.definition->name()), at.point});
        for (auto& row : gathering_.rows_at(i)) known.push_back(std::move(row));
      }
      points += task.size();
      shares_.write(id, run_id_, share, known);
      open_.insert(id);
    }
    std::optional<std::string> job;
    try {
      job = jobs_->submit(submission, [&](const std::string& why) {
        tell_silence(why);
        wait();
      });
    } catch (const EnvironmentError& e) {
      take_back(submission);
      throw EnvironmentError(with_remedy(e.what()));
    }
    if (!job) return;  // looks tell that it came to nothing
    context_.progress->note(fmt::format(
        "{} of {} submitted {}", plural(static_cast<std::int64_t>(submission.tasks.size()), "task"),
        plural(static_cast<std::int64_t>(points), "point"), *job));
    unseen_since_ns_[submission.number] = monotonic_ns();
    pause_s_ = kShortestPauseS;
  }

  Look look() override {
    Look look;
    std::string why;
    const auto jobs = jobs_->look(open_, why);
    if (!jobs) tell_silence(why);
    is_silent_ = !jobs;
    if (jobs) {
      tell_waiting(*jobs);
      for (const auto& [task, job] : *jobs) unseen_since_ns_.erase(task.submission);
    }
    const auto open = open_;
    for (const auto& task : open) {
      gathering_.take(shares_.news(task), look);
      if (!jobs) continue;
      const auto known = jobs->find(task);
      const auto job = known == jobs->end() ? std::nullopt : std::optional(known->second);
      if ((job && is_active(*job)) || may_come(task)) continue;
      const bool closed = shares_.close(task, [&](std::vector<Row> rows) {
        gathering_.take(std::move(rows), look);
        gathering_.write();
      });
      if (!closed) continue;
      open_.erase(task);
      look.ended.push_back(jobs_->ended(task, job, is_cancelling_));
      auto& ended = look.ended.back();
      // Before this program was asked to go on, elsewhere it may be.
      const bool was_held = ended.fate == Fate::kCancelled || (job && was_refused(*job));
      if (is_first_look_ && was_held && !is_cancelling_) {
        ended.fate = Fate::kLost;
      }
      is_unseen_ = is_unseen_ || (job && job->exit_code == kFolderUnseen);
      if (ended.fate == Fate::kLost) context_.progress->note("lost: " + ended.why);
      pause_s_ = kShortestPauseS;
    }
    is_first_look_ = is_first_look_ && !jobs;
    gathering_.write();
    if (is_cancelling_ && !open_.empty()) cancel();
    return look;
  }

  void cancel() override {
    is_cancelling_ = true;
    pause_s_ = kShortestPauseS;
    if (jobs_->cancel()) return;  // looks do it again for as long as something is left
    if (std::exchange(was_told_of_the_end_, true)) return;
    context_.progress->note(unanswered_end());
  }

  void wait() override {
    const auto until = monotonic_ns() + static_cast<std::int64_t>(1e9 * pause_s_);
    while (monotonic_ns() < until && (is_cancelling_ || !context_.stop->load())) ::usleep(50'000);
    pause_s_ = std::min(kLongestPauseS, 1.2 * pause_s_);
  }

 private:
  // Tasks that Slurm did not take are none: who continues the run makes others.
  void take_back(const Submission& submission) {
    for (int index = 0; index < std::ssize(submission.tasks); ++index) {
      const TaskId task{submission.number, index};
      shares_.close(task, [](const std::vector<Row>&) {});
      open_.erase(task);
    }
  }

  // Nobody follows jobs after an error: they do not go on.
  Ending followed(Dispatcher& dispatcher) {
    try {
      return follow(dispatcher, *this, *context_.stop);
    } catch (...) {
      end_jobs();
      throw;
    }
  }

  void end_jobs() {
    if (!jobs_->cancel()) return;
    const auto until = monotonic_ns() + static_cast<std::int64_t>(1e9 * kUntilJobsEndS);
    const auto is_under_way = [](const auto& job) { return is_active(job.second); };
    std::string why;
    for (auto jobs = jobs_->look(open_, why); jobs && std::ranges::any_of(*jobs, is_under_way);
         jobs = jobs_->look(open_, why)) {
      if (monotonic_ns() > until) return;
      ::usleep(200'000);
    }
  }

  void choose_jobs() {
    if (options_.carried) {
      jobs_ = std::make_unique<CarriedJobs>(context_, shares_, run_id_, options_.slurm);
    } else {
      jobs_ = std::make_unique<ArrayJobs>(context_, shares_, run_id_, options_.slurm);
    }
  }

  void tell_silence(const std::string& why) {
    if (context_.stop->load() || std::exchange(is_silent_, true)) return;
    context_.progress->note(
        "warning: Slurm does not answer, or takes no more jobs; those that are there go on: " +
        why);
  }

  void tell_waiting(const std::map<TaskId, SlurmJob>& jobs) {
    std::vector<SlurmJob> list;
    for (const auto& [task, job] : jobs) list.push_back(job);
    const auto why = waits_.news(list, monotonic_ns());
    if (why) context_.progress->note("warning: " + *why);
  }

  // Whether Slurm may not have noticed yet what it accepted a moment ago.
  bool may_come(TaskId task) const {
    const auto since = unseen_since_ns_.find(task.submission);
    return since != unseen_since_ns_.end() && !shares_.status(task) &&
           static_cast<double>(monotonic_ns() - since->second) < 1e9 * kUnseenS;
  }

  std::string with_remedy(const std::string& why) const {
    return fmt::format(
        "{}; when that is mended: assay run --resume {} (elsewhere: with --executor slurm and "
        "other "
        "options)",
        why, gathering_.journal());
  }

  const RunContext& context_;
  const Plan plan_;
  const RunRequest request_;
  const std::string run_id_;
  SlurmRunOptions options_;
  Shares shares_;
  std::unique_ptr<TaskJobs> jobs_;
  Gathering gathering_;
  RunShare share_;  // what all of them have in common
  std::set<TaskId> open_;
  double pause_s_ = kShortestPauseS;
  std::map<int, std::int64_t> unseen_since_ns_;  // submissions that no answer had yet
  SlurmWaits waits_;
  bool is_first_look_ = true;
  bool is_unseen_ = false;  // the folder, by nodes
  bool is_cancelling_ = false, is_silent_ = false, was_told_of_the_end_ = false;
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

std::size_t working_nodes(const RunContext& context, const SlurmOptions& options) {
  return static_cast<std::size_t>(
      std::ranges::count_if(slurm_nodes(options, *context.stop), &SlurmNode::works));
}

// What was gathered is kept, whatever ended it.
RunResult run_at(const RunContext& context, Plan plan, RunPlace place,
                 const SlurmRunOptions& options, std::size_t nodes) {
  const auto journal = place.journal;
  try {
    return SlurmRun(context, std::move(plan), std::move(place), options).run(nodes);
  } catch (const DiskError& e) {
    throw DiskEndsRun(
        fmt::format("{}; when that is mended: assay run --resume {}", e.what(), journal));
  }
}

}  // namespace

RunResult start_slurm_run(const RunContext& context, const RunRequest& request,
                          const std::string& out, const SlurmRunOptions& options) {
  need_slurm();
  check_for_slurm(context, request);
  auto plan = outline_run(context, request);
  const auto nodes = working_nodes(context, options.slurm);
  const auto run_id = make_run_id(realtime_ns(), tree_of(request, context.built_from));
  auto place = new_place(request, run_id, out, [&](const std::string& journal) {
    write_options(Shares(journal), run_id, options);
  });
  return run_at(context, std::move(plan), std::move(place), options, nodes);
}

RunResult resume_slurm_run(const RunContext& context, RunPlace place,
                           const std::optional<SlurmRunOptions>& typed) {
  need_slurm();
  check_for_slurm(context, place.request);
  const auto path = Shares(place.journal).options();
  SlurmRunOptions options;
  if (typed) {
    options = *typed;
  } else {
    const auto record = read_json_file(path);
    options.slurm = slurm_options_from_json(json_field<Json>(record, "slurm", path), path);
    options.machine = json_field<std::string>(record, "machine", path);
    options.carried = json_field<bool>(record, "carried", path);
  }
  auto plan = outline_run(context, place.request);
  const auto nodes = working_nodes(context, options.slurm);
  return run_at(context, std::move(plan), std::move(place), options, nodes);
}

bool is_slurm_run(const RunPlace& place) {
  const auto path = Shares(place.journal).options();
  if (!std::filesystem::exists(path)) return false;
  // One that was killed before it had a request may have left the folder to another.
  return json_field<std::string>(read_json_file(path), "run_id", path) == place.run_id;
}

}  // namespace assay::lab
