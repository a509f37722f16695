// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/execute.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

std::string phase_in(const std::string& directory) {
  auto text = read_small_file(phase_path(directory)).value_or("");
  text.erase(text.find_last_not_of(" \n") + 1);
  return text.empty() ? "start" : text.substr(0, 32);
}

// Sees by our own clock how long a phase lasts at least: from the first look that finds it under
// way to the last.
class PhaseWatch {
 public:
  PhaseWatch(std::string directory, std::string phase)
      : directory_(std::move(directory)), phase_(std::move(phase)) {}

  // Returns the phase under way.
  std::string look() {
    const auto before = monotonic_ns();
    auto phase = phase_in(directory_);
    if (phase != phase_) return phase;
    if (first_ == 0) first_ = monotonic_ns();  // it had begun by now,
    last_ = before;                            // and had not ended then
    return phase;
  }
  double seen_s() const {
    return 1e-9 * static_cast<double>(std::max<std::int64_t>(0, last_ - first_));
  }

 private:
  std::string directory_, phase_;
  std::int64_t first_ = 0, last_ = 0;
};

// A readable report, or why there is none.
struct ReadReport {
  std::optional<WorkerReport> report;
  std::string code, message;
};

ReadReport read_report(const std::string& directory, std::size_t point) {
  const auto path = report_path(directory, point);
  if (!std::filesystem::exists(path)) return {{}, "no_output", "the worker left no report"};
  try {
    return {report_from_json(read_json_file(path), "report"), "", ""};
  } catch (const UserError& e) {
    return {{}, "bad_report", e.what()};
  }
}

}  // namespace

PointOutcome classify(const ProcessResult& process, const std::string& directory,
                      std::size_t point) {
  PointOutcome outcome;
  outcome.output_file = output_path(directory, point);
  auto [report, code, message] = read_report(directory, point);
  if (report) {
    outcome.report = std::move(*report);
    outcome.reported = true;
  }

  Failure failure;
  failure.phase = phase_in(directory);
  failure.stderr_tail = process.stderr_text.substr(
      process.stderr_text.size() - std::min<std::size_t>(process.stderr_text.size(), 2000));
  if (process.signal) failure.signal = *process.signal;
  if (process.exit_code) failure.exit_code = *process.exit_code;
  const auto fail_with = [&](Status status, std::string why, std::string text) {
    outcome.status = status;
    failure.code = std::move(why);
    failure.message = std::move(text);
    outcome.failure = failure;
    return outcome;
  };

  if (process.exec_errno != 0) {
    return fail_with(Status::kEnvMissing, "interpreter_missing",
                     "the worker could not be started: " + errno_text(process.exec_errno));
  }
  if (process.interrupted) {
    return fail_with(Status::kInterrupted, "interrupted",
                     "the run was stopped during this attempt");
  }
  if (process.timed_out) {
    return fail_with(
        Status::kTimeout, "timeout",
        fmt::format("killed after {:.1f} s in phase {}", process.wall_s, failure.phase));
  }
  if (process.over_memory) {
    return fail_with(Status::kOutOfMemory, "memory_limit",
                     fmt::format("killed for its memory in phase {}", failure.phase));
  }
  if (process.signal) {
    const char* name = ::strsignal(*process.signal);
    return fail_with(Status::kCrashed, "signal",
                     fmt::format("ended by signal {} ({}) in phase {}", *process.signal,
                                 name != nullptr ? name : "unknown", failure.phase));
  }
  if (process.exit_code.value_or(0) != 0) {
    return fail_with(Status::kFailed, "exit_code",
                     fmt::format("exit code {} in phase {}", *process.exit_code, failure.phase));
  }
  if (!outcome.reported) return fail_with(Status::kFailed, code, message);
  const auto& said = outcome.report;
  if (said.status != Status::kOk) {
    if (!said.phase.empty()) failure.phase = said.phase;
    return fail_with(said.status, said.code.empty() ? "unspecified" : said.code,
                     said.message.substr(0, 2000));
  }
  if (!std::filesystem::exists(outcome.output_file)) {
    return fail_with(Status::kFailed, "no_output",
                     "the worker reported success but left no output");
  }
  return outcome;
}

std::vector<std::pair<std::string, std::string>> thread_environment(int cores) {
  std::vector<std::pair<std::string, std::string>> environment;
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
                           "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"}) {
    environment.emplace_back(name, std::to_string(cores));
  }
  environment.emplace_back("OMP_DYNAMIC", "false");
  return environment;
}

std::vector<std::pair<std::string, std::string>> provider_environment(const Provider& provider,
                                                                      const Programs& programs) {
  std::vector<std::pair<std::string, std::string>> environment;
  if (provider.threads > 0) environment = thread_environment(provider.threads);
  if (!provider.program.empty()) {  // a command is the user's own, and so is what it is told
    for (const auto& [name, value] : thread_environment(1)) {
      if (const char* theirs = std::getenv(name.c_str())) environment.emplace_back(name, theirs);
    }
  }
  if (provider.runtime == Runtime::kPython) {
    environment.emplace_back("PYTHONPATH", programs.python_package);
    environment.emplace_back("PYTHONDONTWRITEBYTECODE", "1");
    environment.emplace_back("PYTHONHASHSEED", "0");
  }
  return environment;
}

AttemptOutcome execute_isolated(WorkerSpec spec, const std::vector<std::string>& command,
                                const std::vector<std::pair<std::string, std::string>>& environment,
                                const AttemptLimits& limits, const std::vector<int>& held_fds,
                                const std::atomic<bool>* interrupt,
                                const std::function<void(const std::string&)>& on_look) {
  AttemptOutcome outcome;
  outcome.directory = std::make_unique<TemporaryDirectory>(kAttemptFolder);
  spec.directory = outcome.directory->path();
  write_file_atomically(spec_path(spec.directory), canonical_json(spec_to_json(spec)));

  ProcessSpec process;
  process.argv = command;
  process.argv.push_back(spec_path(spec.directory));
  process.environment = thread_environment(spec.cores);
  process.environment.insert(process.environment.end(), environment.begin(), environment.end());
  process.cpus = spec.cpus;
  process.time_limit_s = limits.time_s;
  process.memory_limit = limits.memory;
  process.held_fds = held_fds;
  if (const int lock = outcome.directory->lock_fd(); lock >= 0) process.held_fds.push_back(lock);
  process.interrupt = interrupt;
  PhaseWatch steady(spec.directory, "steady");
  process.on_wait = [&] {
    const auto phase = steady.look();
    if (on_look) on_look(phase);
  };
  outcome.process = run_process(process);
  outcome.steady_seen_s = steady.seen_s();
  for (std::size_t i = 0; i < spec.points.size(); ++i) {
    outcome.points.push_back(classify(outcome.process, spec.directory, i));
  }
  return outcome;
}

AttemptOutcome execute_here(WorkerSpec spec, const std::function<void(const WorkerSpec&)>& run) {
  AttemptOutcome outcome;
  outcome.directory = std::make_unique<TemporaryDirectory>(kAttemptFolder);
  spec.directory = outcome.directory->path();
  run(spec);
  outcome.process.exit_code = 0;
  for (std::size_t i = 0; i < spec.points.size(); ++i) {
    outcome.points.push_back(classify(outcome.process, spec.directory, i));
  }
  return outcome;
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
