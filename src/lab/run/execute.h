// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "lab/record/protocol.h"
#include "lab/record/row.h"
#include "lab/run/environment.h"

namespace assay::lab {

// What is known of one point of an attempt when its process is gone and before it is judged.
struct PointOutcome {
  Status status = Status::kOk;
  std::optional<Failure> failure;  // absent iff ok
  WorkerReport report;             // empty where the worker left none
  bool reported = false;
  std::string output_file;  // valid while the AttemptOutcome lives
};

struct AttemptOutcome {
  std::unique_ptr<TemporaryDirectory> directory;
  ProcessResult process;
  // How long the phase `steady` was seen to last, by our clock: at least so long, whatever the
  // worker says. 0: it was not seen twice.
  double steady_seen_s = 0;
  std::vector<PointOutcome> points;  // one for each point of the spec
};

// The folders of attempts begin so. Those that killed runners left are told by their locks, which
// the folders of earlier versions ("assay-attempt-XXXXXX") did not have.
inline constexpr const char* kAttemptFolder = "assay-attempt-held";

struct AttemptLimits {
  double time_s = 600;
  std::uint64_t memory = 0;
};

// Runs the attempt described by `spec` (its directory is chosen here) as a process of its own, with
// thread_environment(spec.cores) and `environment` on top of it. `on_look` is told the phase under
// way some twenty times a second.
AttemptOutcome execute_isolated(WorkerSpec spec, const std::vector<std::string>& command,
                                const std::vector<std::pair<std::string, std::string>>& environment,
                                const AttemptLimits& limits, const std::vector<int>& held_fds,
                                const std::atomic<bool>* interrupt,
                                const std::function<void(const std::string&)>& on_look = {});

// Runs it in this process: `run` writes the same files a worker would.
AttemptOutcome execute_here(WorkerSpec spec, const std::function<void(const WorkerSpec&)>& run);

// From how a process ended and what it left in `directory` to a status, by structured facts alone.
PointOutcome classify(const ProcessResult& process, const std::string& directory,
                      std::size_t point);

// The environment that fixes thread counts before any library loads.
std::vector<std::pair<std::string, std::string>> thread_environment(int cores);
// What a provider wants beside or instead of that: its own number of threads, where Python finds
// the worker.
std::vector<std::pair<std::string, std::string>> provider_environment(const Provider& provider,
                                                                      const Programs& programs);

// Seconds from spawn to the end of an empty attempt of a native provider: the harness's own cost.
double measure_harness_overhead(const Programs& programs, const std::vector<int>& cpus);

}  // namespace assay::lab
