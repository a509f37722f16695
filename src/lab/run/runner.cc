// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/runner.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/machine.h"
#include "lab/judge/judge.h"
#include "lab/record/journal.h"
#include "lab/run/cores.h"
#include "lab/run/derive.h"
#include "lab/run/execute.h"
#include "lab/run/ledger.h"
#include "lab/run/noise.h"
#include "lab/run/provenance.h"
#include "lab/run/trace.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

constexpr double kMemoryShare = 0.8;  // of what is free at the start, over all slots together

std::string request_path(const std::string& journal) { return journal + ".request.json"; }

// The largest memory an attempt may use.
std::uint64_t memory_limit_of(const RunRequest& request) {
  if (request.memory_limit > 0) return request.memory_limit;
  const double free = static_cast<double>(read_noise({}).free_memory);
  return static_cast<std::uint64_t>(kMemoryShare * free / request.cpu_slots);
}

bool gpu_present(const Machine& machine) { return !machine.gpus.empty(); }

void check_request(const RunRequest& r) {
  const auto at_least = [](const char* name, double value, double least) {
    if (!(value >= least)) fail("{} must be at least {}, got {}", name, least, value);
  };
  at_least("--rounds", r.rounds, 1);
  at_least("--batches", r.settings.batches, kMinBatches);
  at_least("--warm-up", r.settings.warm_up_calls, 0);
  at_least("--steady", r.settings.steady_s, 0);
  at_least("--cpu-slots", r.cpu_slots, 1);
  at_least("--cores", r.cores, 0);
  at_least("--tries", r.max_tries, 1);
  if (!(r.time_limit_s > 0)) fail("--limit must be more than 0 s, got {}", r.time_limit_s);
  for (const auto& platform : r.platforms) {
    if (platform != "cpu" && platform != "cuda") fail("unknown platform (cpu, cuda): '{}'", platform);
  }
}

// One run under way. Each core group has a thread of its own that takes points off a common queue;
// all attempts at a point happen on one group, so that its ratios compare like with like.
class Runner {
 public:
  Runner(const RunContext& context, const RunRequest& request, std::string run_id,
         const std::string& journal, std::vector<Row> earlier)
      : context_(context),
        request_(request),
        run_id_(std::move(run_id)),
        machine_(read_machine()),
        memory_limit_(memory_limit_of(request)),
        probe_(context.programs),
        plan_(make_plan(*context.cases, request, probe_, gpu_present(machine_), memory_limit_)),
        groups_(core_groups(request.cpu_slots, request.cores)),
        ledger_(request.max_tries),
        provenance_(run_provenance(read_source_tree(), context.own_program)),
        rows_(std::move(earlier)),
        journal_(journal) {
    for (const auto& row : rows_) ledger_.record(context_.cases->find(row.case_name), row);
    next_order_ = ledger_.next_order();
  }

  RunResult run() {
    context_.progress->planned(plan_, static_cast<int>(rows_.size()));
    harness_overhead_ = measure_harness_overhead(context_.programs, groups_.front());
    for (const auto& batch : plan_.batches) {
      jobs_.push_back([this, &batch](const auto& cpus) { run_batch(batch, cpus); });
    }
    for (const auto& point : plan_.points) {
      jobs_.push_back([this, &point](const auto& cpus) { run_point(point, cpus); });
    }
    std::vector<std::thread> threads;
    for (const auto& cpus : groups_) threads.emplace_back([this, &cpus] { work_on(cpus); });
    for (auto& thread : threads) thread.join();
    if (first_error_) std::rethrow_exception(first_error_);
    return {run_id_, journal_.path(), std::move(rows_), context_.stop->load()};
  }

 private:
  using Cpus = std::vector<int>;
  using Job = std::function<void(const Cpus&)>;

  bool stopping() const { return context_.stop->load() || failed_.load(); }

  void work_on(const Cpus& cpus) {
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
  void run_point(const PointPlan& plan, const Cpus& cpus) {
    Expectations expectations(*plan.definition, plan.point);
    for (const auto& contender : plan.contenders) {
      if (contender.refused) refuse(plan, contender, 0, *contender.refused, cpus);
    }
    for (int round = 0; round < request_.rounds; ++round) {
      const auto& order = plan.order[static_cast<std::size_t>(round)];
      std::deque<int> queue(order.begin(), order.end());
      for (; !queue.empty() && !stopping(); queue.pop_front()) {
        const auto& contender = plan.contenders[static_cast<std::size_t>(queue.front())];
        const Status status = attempt(plan, contender, round, expectations, cpus);
        if (is_void(status)) queue.push_back(queue.front());
      }
    }
  }

  // The answers of a point, computed when first needed and kept for its rounds.
  class Expectations {
   public:
    Expectations(const Case& definition, const Json& point)
        : definition_(definition), point_(point) {}
    const std::vector<Expectation>& operator()(int set) {
      auto it = by_set_.find(set);
      if (it == by_set_.end()) it = by_set_.emplace(set, definition_.expect(point_, set)).first;
      return it->second;
    }

   private:
    const Case& definition_;
    const Json& point_;
    std::map<int, std::vector<Expectation>> by_set_;
  };

  // Makes one attempt, if it is still to be made, and returns how it ended (ok when it was complete
  // before).
  Status attempt(const PointPlan& plan, const Contender& contender, int round,
                 Expectations& expectations, const Cpus& cpus) {
    const auto& definition = *plan.definition;
    const auto try_number = with_ledger([&](const Ledger& ledger) {
      return ledger.next_try(definition, plan.point, contender.provider.id, contender.platform, round);
    });
    if (!try_number) return Status::kOk;
    const auto given_up = with_ledger([&](const Ledger& ledger) {
      return ledger.given_up(definition, plan.point, contender.provider.id, contender.platform);
    });
    if (given_up) {
      refuse(plan, contender, round, {Status::kSkipped, *given_up}, cpus);
      return Status::kSkipped;
    }

    const auto lock = lock_cores(cpus);
    if (!lock) return Status::kOk;  // stopped while waiting: nothing was attempted
    expectations(kJudgedSet);       // before the attempt, so that nothing computes beside it
    announce(plan, contender, round);
    Measured measured = measure(definition, contender, {plan.point}, cpus, *lock);

    Row row = blank_row(plan, contender, round, *try_number, cpus);
    fill_row(row, measured, 0, expectations);
    write(definition, row);
    return row.status;
  }

  // A deterministic provider computes all its points in one process. Should one of them bring the
  // process down, the rest go on in a fresh one.
  void run_batch(const DeterministicBatch& batch, const Cpus& cpus) {
    std::vector<DeterministicBatch::Member> left;
    for (const auto& member : batch.members) {
      const auto& plan = plan_.points[member.point];
      const auto& contender = plan.contenders[member.contender];
      const auto todo = with_ledger([&](const Ledger& ledger) {
        return ledger.next_try(*plan.definition, plan.point, contender.provider.id,
                               contender.platform, 0);
      });
      if (todo) left.push_back(member);
    }
    while (!left.empty() && !stopping()) {
      const auto& first = plan_.points[left.front().point];
      const auto& contender = first.contenders[left.front().contender];
      std::vector<Json> points;
      for (const auto& member : left) points.push_back(plan_.points[member.point].point);
      const auto lock = lock_cores(cpus);
      if (!lock) return;
      announce(first, contender, 0);
      Measured measured = measure(*first.definition, contender, points, cpus, *lock);

      // Points are computed in order: the first without a report is the one that failed.
      std::size_t done = 0;
      while (done < left.size() && measured.outcome.points[done].reported) ++done;
      const std::size_t rows = std::min(left.size(), done + 1);
      for (std::size_t i = 0; i < rows; ++i) {
        const auto& plan = plan_.points[left[i].point];
        Expectations expectations(*plan.definition, plan.point);
        const int try_number = *with_ledger([&](const Ledger& ledger) {
          return ledger.next_try(*plan.definition, plan.point, contender.provider.id,
                                 contender.platform, 0);
        });
        // A point that was reported is not to blame for how the process ended later.
        if (i < done) {
          ProcessResult fine;
          fine.exit_code = 0;
          measured.outcome.points[i] = classify(fine, measured.outcome.directory->path(), i);
        }
        Row row = blank_row(plan, plan.contenders[left[i].contender], 0, try_number, cpus);
        fill_row(row, measured, i, expectations);
        write(*plan.definition, row);
        if (row.status == Status::kInterrupted) return;
      }
      left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(rows));
    }
  }

  struct Measured {
    AttemptOutcome outcome;
    NoiseSnapshot before, after;
    std::int64_t start_ns = 0, end_ns = 0;
    std::vector<int> cpus;
  };

  Measured measure(const Case& definition, const Contender& contender, std::vector<Json> points,
                   const Cpus& cpus, const CoreLock& lock) {
    if (request_.settle_s > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(request_.settle_s));
    }
    WorkerSpec spec;
    spec.case_name = definition.name();
    spec.provider = contender.provider.id;
    spec.platform = contender.platform;
    spec.cores = static_cast<int>(cpus.size());
    spec.points = std::move(points);
    spec.deterministic = contender.provider.deterministic;
    spec.settings = request_.settings;
    const AttemptLimits limits = {
        request_.time_limit_s * static_cast<double>(spec.points.size()), memory_limit_};

    Measured measured;
    measured.cpus = request_.in_process ? Cpus{} : cpus;
    measured.before = read_noise(cpus);
    measured.start_ns = realtime_ns();
    if (request_.in_process) {
      measured.outcome = execute_here(spec, context_.run_here);
    } else {
      spec.cpus = cpus;
      measured.outcome =
          execute_isolated(spec, contender.command, python_environment(contender), limits,
                           lock.fds(), context_.stop);
    }
    measured.end_ns = realtime_ns();
    measured.after = read_noise(cpus);
    return measured;
  }

  std::vector<std::pair<std::string, std::string>> python_environment(const Contender& c) const {
    if (c.provider.runtime != Runtime::kPython) return {};
    return {{"PYTHONPATH", context_.programs.python_package},
            {"PYTHONDONTWRITEBYTECODE", "1"},
            {"PYTHONHASHSEED", "0"}};
  }

  std::optional<CoreLock> lock_cores(const Cpus& cpus) {
    if (auto lock = CoreLock::try_acquire(cpus)) return lock;
    context_.progress->note(fmt::format("waiting: another runner holds cores {}",
                                        canonical_json(Json(cpus))));
    return CoreLock::acquire(cpus, *context_.stop);
  }

  Row blank_row(const PointPlan& plan, const Contender& contender, int round, int try_number,
                const Cpus& cpus) {
    Row row;
    row.run_id = run_id_;
    row.suite = plan.definition->suite();
    row.case_name = plan.definition->name();
    row.point = plan.point;
    row.provider = contender.provider.id;
    row.platform = contender.platform;
    row.machine = machine_.to_json();
    row.cores = static_cast<int>(cpus.size());
    row.round = round;
    row.try_number = try_number;
    row.attempt_id = make_attempt_id(row.case_name, row.point, row.provider, row.platform,
                                     row.cores, round, try_number);
    const auto work = plan.definition->work(plan.point);
    if (!work.empty()) row.work = work;
    row.provenance = provenance_;
    row.provenance.update(
        Json{{"label", request_.label},
             {"mode", request_.mode},
             {"settings", settings_to_json(request_.settings)},
             {"request", request_to_json(request_)},
             {"order_seed", request_.order_seed},
             {"isolation", request_.in_process ? "in-process" : "process"},
             {"baseline", plan.definition->baseline()},
             {"primary_metric", plan.definition->primary_metric().name},
             {"unequal_work", contender.provider.unequal_work.empty()
                                  ? Json()
                                  : Json(contender.provider.unequal_work)},
             {"expected_status", name_of(contender.provider.expected_status)},
             {"versions", contender.versions},
             {"cpus", cpus},
             {"device", Json()}});
    return row;
  }

  // Status, times and verdict of a measured point. Contamination is decided before any time is
  // looked at, and the judge before the attempt may count.
  void fill_row(Row& row, const Measured& measured, std::size_t index, Expectations& expectations) {
    const auto& outcome = measured.outcome.points[index];
    row.status = outcome.status;
    if (outcome.failure) row.failure = outcome.failure->to_json();
    auto& p = row.provenance;
    p["start_ns"] = measured.start_ns;
    p["end_ns"] = measured.end_ns;
    p["time_start"] = utc_iso8601(measured.start_ns);
    p["time_end"] = utc_iso8601(measured.end_ns);
    p["noise"] = {{"before", measured.before.to_json()},
                  {"after", measured.after.to_json()},
                  {"steal_fraction", steal_fraction(measured.before, measured.after)}};
    p["orphans_killed"] = measured.outcome.process.orphans;
    for (const auto& [name, version] : outcome.report.versions) p["versions"][name] = version;
    for (const auto& phase : outcome.report.phases) {
      p["phases_s"][phase.name] = 1e-9 * static_cast<double>(phase.end_ns - phase.start_ns);
    }

    if (row.status == Status::kOk) {
      const auto cause = contamination(measured.before, measured.after, request_.max_steal);
      if (cause) {
        row.status = Status::kExcluded;
        row.failure = Failure{"steady", "contaminated", *cause, {}, {}, ""}.to_json();
      }
    }
    if (row.status == Status::kOk) {
      const auto verdict = judge(expectations(kJudgedSet), outcome.output_file,
                                 [&](int set) { return expectations(set); });
      row.fidelity = verdict.fidelity;
      if (verdict.status != Status::kOk) {
        row.status = verdict.status;
        row.failure = Failure{"judge", verdict.code, verdict.message, {}, {}, ""}.to_json();
      }
    }
    if (outcome.reported) {
      const std::map<std::string, double> work =
          row.work.is_null() ? std::map<std::string, double>{}
                             : row.work.get<std::map<std::string, double>>();
      row.metrics = derive_metrics(outcome.report, work);
      row.samples = samples_of(outcome.report);
    }
    row.metrics["harness_overhead"] = harness_overhead_;
    if (!context_.trace_directory.empty()) {
      write_trace(context_.trace_directory, row, outcome.report.phases);
    }
  }

  // A row for what is not attempted, unless the journal has it already.
  void refuse(const PointPlan& plan, const Contender& contender, int round,
              const Contender::Refusal& refusal, const Cpus& cpus) {
    const auto try_number = with_ledger([&](const Ledger& ledger) {
      return ledger.next_try(*plan.definition, plan.point, contender.provider.id,
                             contender.platform, round);
    });
    if (!try_number) return;
    Row row = blank_row(plan, contender, round, *try_number, cpus);
    row.status = refusal.status;
    row.failure = Failure{"plan", refusal.why.code, refusal.why.message, {}, {}, ""}.to_json();
    const auto now = realtime_ns();
    row.provenance["time_start"] = row.provenance["time_end"] = utc_iso8601(now);
    row.provenance["start_ns"] = row.provenance["end_ns"] = now;
    write(*plan.definition, row);
  }

  void announce(const PointPlan& plan, const Contender& contender, int round) {
    const std::lock_guard guard(mutex_);
    context_.progress->starting(plan, contender, round);
  }

  void write(const Case& definition, Row& row) {
    const std::lock_guard guard(mutex_);
    row.order = next_order_++;
    journal_.append(row);
    ledger_.record(definition, row);
    context_.progress->finished(row);
    rows_.push_back(row);
  }

  template <typename Question>
  auto with_ledger(const Question& question) {
    const std::lock_guard guard(mutex_);
    return question(std::as_const(ledger_));
  }

  const RunContext& context_;
  const RunRequest request_;
  const std::string run_id_;
  const Machine machine_;
  const std::uint64_t memory_limit_;
  EnvironmentProbe probe_;
  const Plan plan_;
  const std::vector<std::vector<int>> groups_;
  double harness_overhead_ = 0;

  std::mutex mutex_;  // guards everything below
  std::deque<Job> jobs_;
  Ledger ledger_;
  Json provenance_;
  std::vector<Row> rows_;
  int next_order_ = 0;
  std::exception_ptr first_error_;
  std::atomic<bool> failed_ = false;
  JournalWriter journal_;
};

// The journal of a run that was named by path or by id.
std::string journal_of(const std::string& run, const std::string& folder) {
  const std::string in = folder.empty() ? "results" : folder;
  for (const auto& path : {run, fmt::format("{}/{}.jsonl", in, run), fmt::format("{}/{}", in, run)}) {
    if (std::filesystem::is_regular_file(path) || std::filesystem::exists(request_path(path))) {
      return path;
    }
  }
  fail("no run of that name or path (looked in '{}'): '{}'", in, run);
}

struct Recorded {
  std::string run_id;
  RunRequest request;
};

// The request as it was written beside the journal; else as its first row repeats it.
Recorded recorded_request(const std::string& journal, const std::vector<Row>& rows) {
  if (std::filesystem::exists(request_path(journal))) {
    const auto json = read_json_file(request_path(journal));
    return {json_field<std::string>(json, "run_id", request_path(journal)),
            request_from_json(json_field<Json>(json, "request", request_path(journal)),
                              request_path(journal))};
  }
  if (rows.empty()) fail("the journal holds no rows and no request to resume from: '{}'", journal);
  return {rows.front().run_id,
          request_from_json(json_field<Json>(rows.front().provenance, "request", journal), journal)};
}

std::vector<Row> rows_in(const std::string& journal, Progress& progress) {
  if (!std::filesystem::exists(journal)) return {};
  auto content = read_journal(journal);
  if (content.torn) progress.note(fmt::format("warning: ignoring a torn last line in '{}'", journal));
  return std::move(content.rows);
}

}  // namespace

RunResult start_run(const RunContext& context, const RunRequest& request, const std::string& out) {
  check_request(request);
  const auto run_id = make_run_id(realtime_ns(), read_source_tree());
  std::string journal = out.empty() ? "results/" : out;
  if (journal.back() == '/' || std::filesystem::is_directory(journal)) {
    if (journal.back() != '/') journal += '/';
    journal += run_id + ".jsonl";
  }
  if (std::filesystem::exists(journal) && std::filesystem::file_size(journal) > 0) {
    fail("the journal exists already (continue it with --resume): '{}'", journal);
  }
  plan_run(context, request);  // refuse a bad request before anything is written
  const auto folder = std::filesystem::path(journal).parent_path().string();
  if (!folder.empty()) make_directories(folder);
  write_file_atomically(request_path(journal),
                        pretty_json({{"run_id", run_id}, {"request", request_to_json(request)}}));
  return Runner(context, request, run_id, journal, {}).run();
}

RunResult resume_run(const RunContext& context, const std::string& run, const std::string& folder) {
  const auto journal = journal_of(run, folder);
  auto rows = rows_in(journal, *context.progress);
  const auto [run_id, request] = recorded_request(journal, rows);
  return Runner(context, request, run_id, journal, std::move(rows)).run();
}

RunRequest request_of_run(const std::string& run, const std::string& folder) {
  const auto journal = journal_of(run, folder);
  std::vector<Row> rows;
  if (std::filesystem::exists(journal)) rows = read_journal(journal).rows;
  return recorded_request(journal, rows).request;
}

Plan plan_run(const RunContext& context, const RunRequest& request) {
  check_request(request);
  core_groups(request.cpu_slots, request.cores);
  EnvironmentProbe probe(context.programs);
  return make_plan(*context.cases, request, probe, gpu_present(read_machine()),
                   memory_limit_of(request));
}

double measure_harness_overhead(const Programs& programs, const std::vector<int>& cpus) {
  constexpr int kRepeats = 3;
  std::vector<double> seconds;
  for (int i = 0; i < kRepeats; ++i) {
    WorkerSpec spec;  // no points: the worker starts, reads its spec, and ends
    spec.cores = static_cast<int>(cpus.size());
    spec.cpus = cpus;
    const auto start = monotonic_ns();
    const auto outcome = execute_isolated(spec, {programs.worker}, {}, {60, 0}, {}, nullptr);
    seconds.push_back(1e-9 * static_cast<double>(monotonic_ns() - start));
    if (outcome.process.exit_code != 0) {
      throw EnvironmentError(fmt::format("the worker does not start: '{}': {}", programs.worker,
                                         outcome.process.stderr_text));
    }
  }
  return median(seconds);
}

}  // namespace assay::lab
