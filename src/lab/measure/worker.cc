// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/resident_memory.h"
#include "lab/measure/attempt.h"

namespace assay::lab {
namespace {

// The runner pinned us before the program started; make sure that it worked, since numbers from
// elsewhere would be filed under these cores.
void check_pinned(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  check(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "the affinity mask can be read");
  const auto in_mask = [&](int cpu) {
    return CPU_ISSET(static_cast<std::size_t>(cpu), &allowed) != 0;
  };
  if (CPU_COUNT(&allowed) != static_cast<int>(cpus.size()) || !std::ranges::all_of(cpus, in_mask)) {
    throw EnvironmentError("the process is not pinned to its core group");
  }
}

void measure_points(const WorkerSpec& spec, const WorkloadRegistry& workloads) {
  const auto instruments = real_instruments(phase_path(spec.directory));
  for (std::size_t i = 0; i < spec.points.size(); ++i) {
    const auto make = [&] { return workloads.make(spec, spec.points[i]); };
    const auto report = measure_attempt(make, spec.settings, spec.deterministic,
                                        output_path(spec.directory, i), instruments);
    write_file_atomically(report_path(spec.directory, i), canonical_json(report_to_json(report)));
  }
}

}  // namespace

Instruments real_instruments(const std::string& phase_file) {
  auto fd = std::make_shared<UniqueFd>(
      ::open(phase_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  Instruments instruments;
  instruments.now_ns = monotonic_ns;
  instruments.clock_step_ns = observed_clock_step_ns();
  instruments.reset_peak_memory = reset_peak_resident;
  instruments.peak_memory = peak_resident_bytes;
  instruments.on_phase = [fd](std::string_view name) {
    // Fixed width, so that a shorter name covers a longer one.
    const auto text = fmt::format("{:<16}", name);
    [[maybe_unused]] const ssize_t n = ::pwrite(fd->get(), text.data(), text.size(), 0);
  };
  return instruments;
}

int run_worker(const std::string& spec_file, const WorkloadRegistry& workloads) {
  try {
    const auto spec = spec_from_json(read_json_file(spec_file), spec_file);
    check_pinned(spec.cpus);
    measure_points(spec, workloads);
    return 0;
  } catch (const std::exception& e) {
    std::fputs(fmt::format("assay-worker: {}\n", e.what()).c_str(), stderr);
    return 1;
  }
}

void run_attempt_here(const WorkerSpec& spec, const WorkloadRegistry& workloads) {
  measure_points(spec, workloads);
}

}  // namespace assay::lab
