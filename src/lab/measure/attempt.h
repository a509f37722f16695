// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What happens inside an attempt, from start to report.

#include <cstdint>
#include <functional>
#include <string>

#include "lab/measure/workload.h"
#include "lab/record/protocol.h"

namespace assay::lab {

// What the measurement needs of its surroundings, so that tests can give it a clock of their own.
struct Instruments {
  std::function<std::int64_t()> now_ns;     // monotonic
  std::int64_t clock_step_ns = 1;           // the smallest step the clock was seen to make
  std::function<void()> reset_peak_memory;  // makes the next peak start from now
  std::function<double()> peak_memory;      // bytes since the last reset; NaN where not available
  std::function<void(std::string_view)> on_phase;  // told before each phase begins
};

// The real ones: the monotonic clock, the kernel's peak counter, and the attempt's phase file.
Instruments real_instruments(const std::string& phase_file);

// Measures one workload: prepare → cold → warm_up → calibrate → steady → output → memory; one that
// times itself: prepare → own_clock → output. Failures
// of the provider come back as values in the report; nothing is thrown for what it does.
//   `make` builds the workload (part of prepare), `output_file` is where its outputs go.
WorkerReport measure_attempt(const std::function<std::unique_ptr<Workload>()>& make,
                             const MeasureSettings& settings, bool deterministic,
                             const std::string& output_file, const Instruments& instruments);

// The main of a native worker: reads the spec file, pins itself, measures every point, writes the
// reports. Returns the exit status: 0 unless the spec itself cannot be served.
int run_worker(const std::string& spec_file, const WorkloadRegistry& workloads);

// Measures the points of a spec in this process, without pinning, and writes the same files. For
// `--in-process`.
void run_attempt_here(const WorkerSpec& spec, const WorkloadRegistry& workloads);

}  // namespace assay::lab
