// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/runner.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "lab/record/journal.h"
#include "lab/run/attempt_row.h"
#include "lab/run/budget.h"
#include "lab/run/cores.h"
#include "lab/run/disk_ends_run.h"
#include "lab/run/disturbances.h"
#include "lab/run/execute.h"
#include "lab/run/ledger.h"
#include "lab/run/measure_process.h"
#include "lab/run/precision.h"
#include "lab/run/provenance.h"
#include "lab/run/trace.h"
#include "lab/stats/stopping.h"

namespace assay::lab {
namespace {

constexpr double kMemoryShare = 0.8;  // of what is free at the start, over all slots together

// The largest memory an attempt may use.
std::uint64_t memory_limit_of(const RunRequest& request) {
  if (request.memory_limit > 0) return request.memory_limit;
  const double free = static_cast<double>(read_noise({}).free_memory);
  return static_cast<std::uint64_t>(kMemoryShare * free / request.cpu_slots);
}

// One run under way. Each core group has a thread of its own that takes points off a common queue;
// all attempts at a point happen on one group, so that its ratios compare like with like.
class Runner {
 public:
  Runner(const RunContext& context, Plan plan, RunPlace place)
      : context_(context),
        plan_(std::move(plan)),
        groups_(core_groups(place.request.cpu_slots, place.request.cores)),
        ledger_(place.request.max_tries),
        rows_(std::move(place.rows)),
        journal_(std::move(place.writer.value())),
        disturbances_(place.request.max_foreign) {
    facts_.run_id = place.run_id;
    facts_.machine = read_machine();
    facts_.ceilings = load_ceilings(facts_.machine.fingerprint());
    facts_.calibration = load_calibration(facts_.machine.fingerprint());
    facts_.request = place.request;
    facts_.provenance =
        run_provenance(tree_of(place.request, context.built_from), context.own_program);
    facts_.own_trees = own_trees_of(place.request);
    if (!measures_only_files(place.request)) {
      note_all(mark_other_sources(facts_.provenance, place.request, rows_));
    }
    if (place.torn) {
      context_.progress->note(
          fmt::format("warning: ignoring a torn last line in '{}'", place.journal));
    }
    if (place.of_others > 0) {
      context_.progress->note(fmt::format("{} of other runs in '{}' left alone: run '{}' goes on",
                                          plural(static_cast<std::int64_t>(place.of_others), "row"),
                                          place.journal, place.run_id));
    }
    for (const auto& row : rows_) ledger_.record(context_.cases->find(row.case_name), row);
  }

  RunResult run() {
    context_.progress->planned(plan_, static_cast<int>(rows_.size()));
    remove_abandoned_directories(kAttemptFolder);  // those of runners that were killed
    facts_.harness_overhead_s = measure_harness_overhead(context_.programs, groups_.front());
    const int groups = static_cast<int>(groups_.size());
    const double used_s = time_spent_s(rows_) / groups;  // by earlier parts of this run
    budget_.emplace(facts_.request.budget_s, used_s, monotonic_ns(), groups);
    if (budget_->limited() && used_s >= facts_.request.budget_s) {
      context_.progress->note(
          fmt::format("the budget of {:.4g} s is spent: {:.4g} s (more with --budget)",
                      facts_.request.budget_s, used_s));
    }
    points_left_ = static_cast<int>(plan_.points.size());
    for (const auto& batch : plan_.batches) {
      jobs_.push_back([this, &batch](const Cpus& cpus) { run_batch(batch, cpus); });
    }
    for (const auto& point : plan_.points) {
      jobs_.push_back([this, &point](const Cpus& cpus) { run_point(point, cpus); });
    }
    std::vector<std::thread> threads;
    for (const auto& cpus : groups_) threads.emplace_back([this, &cpus] { work_on(cpus); });
    for (auto& thread : threads) thread.join();
    note_all(disturbances_.sum());
    if (first_error_) std::rethrow_exception(first_error_);
    return {facts_.run_id, journal_.path(), std::move(rows_), context_.stop->load()};
  }

 private:
  using Cpus = std::vector<int>;
  using Job = std::function<void(const Cpus&)>;

  bool stopping() const { return context_.stop->load() || failed_.load(); }

  // The thread of one core group. It stays on its cores, so that oracle and judge disturb nobody.
  void work_on(const Cpus& cpus) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &mask);
    sched_setaffinity(0, sizeof mask, &mask);
    try {
      while (!stopping()) {
        Job job;
        {
          const std::lock_guard guard(mutex_);
          if (jobs_.empty()) return;
          job = std::move(jobs_.front());
          jobs_.pop_front();
        }
        job(cpus);
      }
    } catch (...) {
      const std::lock_guard guard(mutex_);
      if (!first_error_) first_error_ = std::current_exception();
      failed_ = true;  // the other groups finish their attempt and stop
    }
  }

  // Round by round; an attempt that turned out void goes to the end of its round and is made again.
  // With a precision, the rounds end at the first look that finds every ratio well enough known.
  void run_point(const PointPlan& plan, const Cpus& cpus) {
    Expectations expectations(*plan.definition, plan.point, facts_.run_id);
    const std::int64_t until = budget_->share_until(monotonic_ns(), points_left_--);
    bool late = monotonic_ns() >= until;  // decided once after each attempt, as its row says
    for (const auto& contender : plan.contenders) {
      if (contender.refused) refuse(plan, contender, 0, *contender.refused, cpus);
    }
    for (int round = 0; round < facts_.request.rounds; ++round) {
      if (settled(plan, round)) return;
      const auto& order = plan.order[static_cast<std::size_t>(round)];
      std::deque<int> queue(order.begin(), order.end());
      for (; !queue.empty() && !stopping() && !late; queue.pop_front()) {
        const auto& contender = plan.contenders[static_cast<std::size_t>(queue.front())];
        Turn turn{round, queue.size() == 1, until, late};
        const Status status = attempt(plan, contender, turn, expectations, cpus);
        late = turn.late;
        if (is_void(status)) queue.push_back(queue.front());
      }
    }
  }

  // Where an attempt stands among those of its point.
  struct Turn {
    int round;
    bool ends_round;
    std::int64_t until;  // no attempt starts after this
    bool late;           // it has passed
  };

  // Whether the precision asked for is reached (or out of reach) after so many rounds.
  bool settled(const PointPlan& plan, int rounds) {
    if (facts_.request.precision <= 0 || !is_look(rounds)) return false;
    const std::lock_guard guard(mutex_);
    return assess_precision(plan, rows_, rounds, facts_.request.precision).decision !=
           Stopping::kContinue;
  }

  // The last row before a stop, and the last of every look, say how well the ratios are known.
  void note_stopping(const PointPlan& plan, const Turn& turn, Row& row) {
    const double target = facts_.request.precision;
    const int rounds = turn.ends_round ? turn.round + 1 : turn.round;
    const bool finished = turn.ends_round && rounds == facts_.request.rounds;
    const bool look = target > 0 && turn.ends_round && is_look(rounds);
    if (!look && !(turn.late && !finished)) return;
    const std::lock_guard guard(mutex_);
    auto rows = rows_;
    rows.push_back(row);
    const auto state = target > 0 ? assess_precision(plan, rows, rounds, target)
                                  : PointPrecision{rounds, {}, Stopping::kContinue};
    row.provenance.stopping = stop_record(state, target, turn.late);
  }

  // Makes one attempt, if it is still to be made, and returns how it ended (ok when there was
  // nothing to do).
  Status attempt(const PointPlan& plan, const Contender& contender, Turn& turn,
                 Expectations& expectations, const Cpus& cpus) {
    const int round = turn.round;
    const auto try_number = next_try(plan, contender, round);
    if (!try_number) return Status::kOk;
    if (auto why = given_up(plan, contender)) {
      refuse(plan, contender, round, Refusal{Status::kSkipped, std::move(*why)}, cpus);
      return Status::kOk;
    }
    RunGpu* const gpu = gpu_of(contender, cpus);
    if (const auto why = gpu == nullptr ? std::nullopt : gpu->trouble()) {
      refuse(plan, contender, round, Refusal{Status::kSkipped, *why}, cpus);
      return Status::kOk;
    }
    bool waited = false;
    const auto lock = lock_cores(cpus, &waited, gpu);
    if (!lock) return Status::kOk;                 // stopped while waiting: nothing was attempted
    if (waited && monotonic_ns() >= turn.until) {  // no row can say so: the last is written
      turn.late = true;
      const std::lock_guard guard(mutex_);
      context_.progress->note("the budget went by while another runner held the cores");
      return Status::kOk;
    }
    // Before the attempt, so that nothing computes beside it.
    if (contender.provider.judged) expectations(kJudgedSet);
    announce(plan, contender, round);
    Row row = blank_row(facts_, plan, contender, round, *try_number, cpus);
    const auto measured = measure_process(
        {context_, facts_.request, *plan.definition, contender, plan_.memory_limit, gpu},
        {plan.point}, row.attempt_id, cpus, *lock);
    if (gpu != nullptr) look_after(*gpu, measured.outcome.points.front());
    fill_row(row, facts_, measured, 0, *plan.definition, contender.provider, expectations,
             may_repeat(*try_number));
    turn.late = monotonic_ns() >= turn.until;
    note_stopping(plan, turn, row);
    {
      const std::lock_guard guard(mutex_);
      note_all(disturbances_.notice(row));
    }
    write(*plan.definition, {&row, 1}, &measured.outcome);
    return row.status;
  }

  bool may_repeat(int try_number) {
    const std::lock_guard guard(mutex_);
    return ledger_.may_repeat(try_number);
  }

  void note_all(const std::vector<std::string>& lines) {
    for (const auto& line : lines) context_.progress->note(line);
  }

  // A deterministic provider computes all its points in one process. Should one of them bring the
  // process down, the rest go on in a fresh one.
  void run_batch(const DeterministicBatch& batch, const Cpus& cpus) {
    auto left = batch.members;
    std::erase_if(left, [&](const auto& member) {
      const auto& plan = plan_.points[member.point];
      return !next_try(plan, plan.contenders[member.contender], 0);
    });
    while (!left.empty() && !stopping()) {
      const auto& first = plan_.points[left.front().point];
      const auto& contender = first.contenders[left.front().contender];
      std::vector<Json> points;
      for (const auto& member : left) points.push_back(plan_.points[member.point].point);
      const auto lock = lock_cores(cpus, nullptr, gpu_of(contender, cpus));
      if (!lock) return;
      announce(first, contender, 0);
      auto measured = measure_process({context_, facts_.request, *first.definition, contender,
                                       plan_.memory_limit, gpu_of(contender, cpus)},
                                      points, "", cpus, *lock);

      // Points are computed in order: the first without a report is the one that failed, and those
      // before it are not to blame for how the process ended.
      ProcessResult fine;
      fine.exit_code = 0;
      bool failed = false;
      std::vector<Row> rows;
      while (!left.empty() && !failed) {
        const std::size_t i = points.size() - left.size();
        auto& outcome = measured.outcome.points[i];
        if (outcome.reported) {
          outcome = classify(fine, measured.outcome.directory->path(), i);
        } else {
          failed = true;
        }
        const auto& plan = plan_.points[left.front().point];
        const auto& of_point = plan.contenders[left.front().contender];
        Expectations expectations(*plan.definition, plan.point, facts_.run_id);
        Row row =
            blank_row(facts_, plan, of_point, 0, next_try(plan, of_point, 0).value_or(0), cpus);
        fill_row(row, facts_, measured, i, *plan.definition, of_point.provider, expectations);
        rows.push_back(std::move(row));
        left.erase(left.begin());
      }
      for (Row& row : rows) {  // each its share of the process
        *row.provenance.duration_s /= static_cast<double>(rows.size());
      }
      write(*first.definition, rows, &measured.outcome);
      if (rows.back().status == Status::kInterrupted) return;
    }
  }

  // The device of a contender's attempts on a core group; null: none. Each group has one of its
  // own, or shares it with others where there are more groups than devices.
  RunGpu* gpu_of(const Contender& contender, const Cpus& cpus) const {
    if (contender.platform != "cuda" || plan_.gpus.empty()) return nullptr;
    const auto group = std::ranges::find(groups_, cpus) - groups_.begin();
    return plan_.gpus[static_cast<std::size_t>(group) % plan_.gpus.size()].get();
  }

  // An attempt that ended badly may have taken the device with it: the next would only find out.
  void look_after(RunGpu& gpu, const PointOutcome& outcome) {
    const bool is_suspect = outcome.status == Status::kCrashed ||
                            outcome.status == Status::kTimeout ||
                            (outcome.failure && outcome.failure->code == "device_lost");
    if (!is_suspect || gpu.still_works()) return;
    const std::lock_guard guard(mutex_);
    context_.progress->note("warning: " + gpu.trouble()->message);
  }

  std::optional<CoreLock> lock_cores(const Cpus& cpus, bool* waited, const RunGpu* gpu) {
    const auto tell = [&] {
      if (waited != nullptr) *waited = true;
      const std::lock_guard guard(mutex_);
      context_.progress->note(fmt::format("waiting: another runner holds cores {}{}",
                                          canonical_json(Json(cpus)),
                                          gpu == nullptr ? "" : " or the GPU"));
    };
    return CoreLock::acquire(cpus, *context_.stop, tell, gpu == nullptr ? "" : gpu->gpu().uuid);
  }

  // A row for what is not attempted, unless the journal has it already.
  void refuse(const PointPlan& plan, const Contender& contender, int round, const Refusal& refusal,
              const Cpus& cpus) {
    const auto try_number = next_try(plan, contender, round);
    if (!try_number) return;
    Row row = blank_row(facts_, plan, contender, round, *try_number, cpus);
    refuse_row(row, refusal);
    write(*plan.definition, {&row, 1}, nullptr);
  }

  std::optional<int> next_try(const PointPlan& plan, const Contender& contender, int round) {
    const std::lock_guard guard(mutex_);
    return ledger_.next_try(*plan.definition, plan.point, contender.name, contender.platform,
                            round);
  }

  std::optional<Skip> given_up(const PointPlan& plan, const Contender& contender) {
    const std::lock_guard guard(mutex_);
    return ledger_.given_up(*plan.definition, plan.point, contender.name, contender.platform);
  }

  void announce(const PointPlan& plan, const Contender& contender, int round) {
    const std::lock_guard guard(mutex_);
    context_.progress->starting(plan, contender, round);
  }

  // The rows of one process: the first points of its outcome (null: of an attempt not made).
  void write(const Case& definition, std::span<Row> rows, const AttemptOutcome* outcome) {
    const std::lock_guard guard(mutex_);
    int order = ledger_.next_order();
    for (Row& row : rows) row.order = order++;
    journal_.append(rows);
    if (context_.on_rows) context_.on_rows(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ledger_.record(definition, rows[i]);
      if (!context_.trace_directory.empty()) {
        write_trace(
            context_.trace_directory, rows[i],
            outcome == nullptr ? std::vector<PhaseTime>() : outcome->points[i].report.phases);
      }
      context_.progress->finished(rows[i]);
      rows_.push_back(rows[i]);
    }
  }

  const RunContext& context_;
  const Plan plan_;
  const std::vector<Cpus> groups_;
  RunFacts facts_;  // complete before the threads start

  std::optional<Budget> budget_;  // likewise
  std::atomic<int> points_left_ = 0;

  std::mutex mutex_;  // guards what follows, and the progress
  std::deque<Job> jobs_;
  Ledger ledger_;
  std::vector<Row> rows_;
  JournalWriter journal_;
  Disturbances disturbances_;
  std::exception_ptr first_error_;
  std::atomic<bool> failed_ = false;
};

// Rows of one run are of one program, and where that was asked for of one kind of machine.
void check_share(const RunContext& context, const RunShare& share) {
  if (share.version != version()) {
    throw EnvironmentError(fmt::format("this program is of version {}, the run is of version '{}'",
                                       version(), share.version));
  }
  for (const auto& [what, sha256] : program_hashes(context)) {
    const auto there = share.sha256.find(what);
    if (there == share.sha256.end() || there->second != sha256) {
      throw EnvironmentError(
          fmt::format("this {} is another one than that of the run (SHA-256 {} here, {} there)",
                      what, sha256, there == share.sha256.end() ? "none" : there->second));
    }
  }
  const auto machine = read_machine().fingerprint();
  if (!share.machine.empty() && share.machine != machine) {
    throw EnvironmentError(fmt::format("this machine is of kind {}, the run is pinned to '{}'",
                                       machine, share.machine));
  }
}

// What was measured is kept, also when the disk takes no more.
RunResult run_at(const RunContext& context, Plan plan, RunPlace place) {
  const auto journal = place.journal;
  try {
    return Runner(context, std::move(plan), std::move(place)).run();
  } catch (const DiskError& e) {
    throw DiskEndsRun(
        fmt::format("{}; when that is mended: assay run --resume {}", e.what(), journal));
  }
}

}  // namespace

Plan plan_run(const RunContext& context, const RunRequest& request) {
  check_request(request);
  EnvironmentProbe probe(context.programs, *context.cases);
  std::vector<std::shared_ptr<RunGpu>> gpus;
  std::optional<Skip> no_gpu;
  if (std::ranges::find(request.platforms, "cuda") != request.platforms.end()) {
    gpus = find_gpus(context.programs, request.gpus, no_gpu);
  }
  // Behind the GPUs: each takes a slot, and who asks for too many of them is told of GPUs.
  core_groups(request.cpu_slots, request.cores);
  auto plan = make_plan(*context.cases, request, probe, no_gpu, memory_limit_of(request));
  plan.gpus = std::move(gpus);
  return plan;
}

std::map<std::string, std::string> program_hashes(const RunContext& context) {
  return {{"assay", sha256_file(context.own_program)},
          {"assay-worker", sha256_file(context.programs.worker)}};
}

Plan outline_run(const RunContext& context, const RunRequest& request) {
  check_request(request);
  EnvironmentProbe probe(context.programs, *context.cases);
  return make_plan(*context.cases, request, probe, std::nullopt,
                   std::numeric_limits<std::uint64_t>::max());
}

RunResult start_run(const RunContext& context, const RunRequest& request, const std::string& out) {
  // A new run's plan needs nothing that stands at its place: a bad request is refused before there
  // is anything. resume_run() plans with the lock held.
  Plan plan = plan_run(context, request);
  const auto run_id = make_run_id(realtime_ns(), tree_of(request, context.built_from));
  return run_at(context, std::move(plan), new_place(request, run_id, out));
}

RunResult resume_run(const RunContext& context, RunPlace place) {
  if (place.share) check_share(context, *place.share);
  Plan plan = plan_run(context, place.request);
  if (place.share) {
    std::set<std::pair<std::string, Json>> points;
    for (const auto& at : place.share->points) points.emplace(at.case_name, at.point);
    keep_points(plan, place.request, [&](const PointPlan& at) {
      return points.contains({std::string(at.definition->name()), at.point});
    });
  }
  return run_at(context, std::move(plan), std::move(place));
}

}  // namespace assay::lab
