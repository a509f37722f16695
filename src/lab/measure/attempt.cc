// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/measure/attempt.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "base/error.h"
#include "lab/record/case.h"

namespace assay::lab {
namespace {

// Names the phases as they begin and keeps their times.
class Phases {
 public:
  Phases(const Instruments& instruments, std::vector<PhaseTime>& times)
      : instruments_(instruments), times_(times) {}
  ~Phases() { end(); }

  void begin(const char* name) {
    end();
    instruments_.on_phase(name);
    times_.push_back({name, instruments_.now_ns(), 0});
    open_ = true;
  }
  void end() {
    if (open_) times_.back().end_ns = instruments_.now_ns();
    open_ = false;
  }
  std::string current() const { return times_.empty() ? "start" : times_.back().name; }

 private:
  const Instruments& instruments_;
  std::vector<PhaseTime>& times_;
  bool open_ = false;
};

// Calls that rotate through the input slots.
class Caller {
 public:
  Caller(Workload& workload, const Instruments& instruments)
      : workload_(workload), instruments_(instruments) {}

  // Seconds for `count` calls, taken together.
  double time(std::int64_t count) {
    double by_own_clock = 0;
    const std::int64_t start = instruments_.now_ns();
    workload_.begin_batch();
    for (std::int64_t i = 0; i < count; ++i) {
      workload_.call(slot_);
      slot_ ^= 1;
      if (const auto seconds = workload_.own_seconds()) by_own_clock += *seconds;
    }
    device_ = workload_.end_batch();
    if (by_own_clock > 0) return by_own_clock;
    const double elapsed = static_cast<double>(instruments_.now_ns() - start) * 1e-9;
    // Two clocks are read: what is left is never less than the device says.
    return device_.sweeps_s > 0 ? std::max(elapsed - device_.sweeps_s, device_.calls_s) : elapsed;
  }
  int next_slot() const { return slot_; }
  // Of the last time(), by the device's clock; 0: it has none.
  double device_s() const { return device_.calls_s; }

 private:
  Workload& workload_;
  const Instruments& instruments_;
  int slot_ = 0;
  DeviceTimes device_;
};

// How many calls make a batch of at least `target_s`: grows until a batch is that long. A call that
// was seen to take so long by itself (`one_call_s`) needs no trial: it may take minutes.
std::int64_t calibrate(Caller& caller, double target_s, double one_call_s) {
  if (one_call_s >= target_s) return 1;
  std::int64_t calls = 1;
  for (;;) {
    const double elapsed = caller.time(calls);
    if (elapsed >= target_s) return calls;
    const double growth = elapsed > 0 ? 1.02 * target_s / elapsed : 10;
    calls = std::max(calls + 1, static_cast<std::int64_t>(std::ceil(static_cast<double>(calls) *
                                                                    std::min(growth, 10.0))));
  }
}

void measure(Workload& workload, const MeasureSettings& settings, bool deterministic,
             const std::string& output_file, const Instruments& instruments, Phases& phases,
             WorkerReport& report) {
  workload.prepare_for(settings);
  for (int slot = 0; slot < kRotatingSets; ++slot) workload.load(slot, slot);
  report.metrics["peak_rss_start"] = instruments.peak_memory();

  instruments.reset_peak_memory();
  phases.begin("cold");
  Caller caller(workload, instruments);
  report.metrics["cold_time"] = caller.time(1);
  report.metrics["peak_rss_cold"] = instruments.peak_memory() + workload.child_memory();
  for (const auto& [stage, seconds] : workload.stages()) {
    report.metrics[fmt::format("{}{}", kColdStage, stage)] = seconds;
  }

  if (!deterministic) {
    instruments.reset_peak_memory();
    phases.begin("warm_up");
    const double warm_up_s = caller.time(settings.warm_up_calls);
    const double one_call_s = settings.warm_up_calls > 0 ? warm_up_s / settings.warm_up_calls : 0;

    phases.begin("calibrate");
    const double shortest =
        std::max(settings.batch_min_s,
                 1e-9 * static_cast<double>(instruments.clock_step_ns) * settings.batch_min_ticks);
    const double target = std::max(shortest, settings.steady_s / settings.batches);
    report.batch_calls = calibrate(caller, target, one_call_s);

    // The runner holds what is reported against how long it sees the phase `steady`: only a clock
    // that runs all the time can keep up with that.
    phases.begin(workload.own_seconds() || settings.flush_l2 ? "runs" : "steady");
    for (int batch = 0; batch < settings.batches; ++batch) {
      report.steady_s.push_back(caller.time(report.batch_calls) /
                                static_cast<double>(report.batch_calls));
      if (const double seconds = caller.device_s(); seconds > 0) {
        report.samples["device_time"].push_back(seconds / static_cast<double>(report.batch_calls));
      }
      for (const auto& [stage, seconds] : workload.stages()) {
        report.samples[fmt::format("{}{}", kStage, stage)].push_back(seconds);
      }
    }
    report.metrics["peak_rss_steady"] = instruments.peak_memory() + workload.child_memory();
  }

  // The judged call: inputs never seen before, in buffers that were timed, into poisoned outputs.
  // Whoever answers from memory, by address or by habit, answers wrongly.
  phases.begin("output");
  const int slot = caller.next_slot();
  workload.load(slot, kJudgedSet);
  workload.poison_outputs();
  caller.time(1);
  workload.write_outputs(output_file);
  if (!workload.is_judged_again()) return;
  workload.poison_outputs();
  workload.call(slot);
  workload.end_batch();
  workload.write_outputs(again_path(output_file));
}

// Of a program that has a clock of its own. The phase is not called steady: what else the program
// does in it (trials, setting up) is unknown, so the runner cannot hold the times against it.
void take_own_times(Workload& workload, const MeasureSettings& settings,
                    const std::string& output_file, const Instruments& instruments, Phases& phases,
                    WorkerReport& report) {
  instruments.reset_peak_memory();
  phases.begin("own_clock");
  auto times = workload.own_times(settings);
  report.steady_s = std::move(times.steady_s);
  report.batch_calls = times.batch_calls;
  report.samples = std::move(times.samples);
  report.metrics["peak_rss_steady"] = instruments.peak_memory() + workload.child_memory();
  phases.begin("output");
  workload.write_outputs(output_file);
}

// What a provider says of itself when all is done.
void take_facts(const Workload& workload, Phases& phases, WorkerReport& report) {
  phases.begin("report");
  for (const auto& [name, value] : workload.metrics()) report.metrics[name] = value;
  report.versions = workload.versions();
}

// Whole runs of a program: as many as fit into the steady time by what the first took with all
// that goes around it, at least one and at most as many as there are batches. How long a program
// takes that nobody has run yet is not known, so the first counts like every other.
void measure_whole_runs(Workload& workload, const MeasureSettings& settings, bool deterministic,
                        const std::string& output_file, const Instruments& instruments,
                        Phases& phases, WorkerReport& report) {
  Caller caller(workload, instruments);
  const int warm_up = deterministic ? 0 : workload.warm_up_calls().value_or(settings.warm_up_calls);
  if (warm_up > 0) {
    phases.begin("warm_up");
    report.metrics["cold_time"] = caller.time(1);
    caller.time(warm_up - 1);
  }

  phases.begin("runs");
  std::int64_t runs = 1;
  const auto start = instruments.now_ns();
  for (std::int64_t run = 0; run < runs; ++run) {
    workload.poison_outputs();
    report.steady_s.push_back(caller.time(1));
    for (const auto& [name, value] : workload.call_values()) report.samples[name].push_back(value);
    if (run > 0 || deterministic) continue;
    const double first_s = 1e-9 * static_cast<double>(instruments.now_ns() - start);
    const double fitting = first_s > 0 ? settings.steady_s / first_s : 1e9;
    runs = static_cast<std::int64_t>(std::clamp(fitting, 1.0, 1.0 * settings.batches));
  }
  report.batch_calls = 1;
  report.metrics.emplace("cold_time", report.steady_s.front());

  phases.begin("output");
  workload.write_outputs(output_file);
}

void set_failure(WorkerReport& report, Status status, const std::string& phase,
                 const std::string& code, const std::string& message) {
  report.status = status;
  report.phase = phase;
  report.code = code;
  report.message = message;
}

}  // namespace

WorkerReport measure_attempt(const std::function<std::unique_ptr<Workload>()>& make,
                             const MeasureSettings& settings, bool deterministic,
                             const std::string& output_file, const Instruments& instruments) {
  WorkerReport report;
  Phases phases(instruments, report.phases);
  try {
    phases.begin("prepare");
    const auto workload = make();
    if (workload->times_itself()) {
      take_own_times(*workload, settings, output_file, instruments, phases, report);
    } else {
      const auto measure_it = workload->is_whole_run() ? measure_whole_runs : measure;
      measure_it(*workload, settings, deterministic, output_file, instruments, phases, report);
    }
    take_facts(*workload, phases, report);
    phases.end();
  } catch (const ProviderFailure& e) {
    set_failure(report, e.status(), phases.current(), e.code(), e.what());
  } catch (const std::bad_alloc&) {
    set_failure(report, Status::kOutOfMemory, phases.current(), "allocation_failed",
                "an allocation was refused");
  } catch (const std::exception& e) {
    set_failure(report, Status::kFailed, phases.current(), "error", e.what());
  }
  phases.end();
  // A peak counter that cannot be read leaves no metric, not a made-up one.
  std::erase_if(report.metrics, [](const auto& m) { return std::isnan(m.second); });
  return report;
}

}  // namespace assay::lab
