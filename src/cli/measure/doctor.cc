// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/machine.h"
#include "base/units.h"
#include "cli/build_commit.h"
#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/measure/peaks.h"
#include "lab/beside/self_comparison.h"
#include "lab/record/calibration.h"
#include "lab/record/ceilings.h"
#include "lab/run/cores.h"
#include "lab/run/execute.h"
#include "lab/run/noise.h"
#include "lab/run/provenance.h"
#include "lab/show/terminal/noise_table.h"
#include "lab/store/source.h"

namespace assay::cli {
namespace {

constexpr double kWatchSeconds = 1.0;  // how long steal is watched; the kernel counts 10 ms ticks

// The clock and the machine's noise over a second, and what the harness costs.
struct Findings {
  Machine machine;
  std::vector<int> cpus;
  lab::NoiseSnapshot noise;
  double steal = 0;
  std::int64_t clock_step_ns = 0, clock_claims_ns = 0;
  double harness_overhead_s = 0;
  std::optional<lab::Ceilings> ceilings;  // measured now or before
  std::string ceilings_file;              // where they were saved just now
  std::string device_trouble;             // why those of the GPU that is there were not measured
  std::optional<lab::Calibration> calibration;
  std::vector<lab::NoiseLine> noise_lines;  // of the rows that were named
};

Findings examine(bool peaks, const std::vector<std::string>& sources) {
  Findings f;
  if (!sources.empty()) f.noise_lines = lab::noise_lines(lab::read_sources(sources).rows);
  f.machine = read_machine();
  f.cpus = lab::core_groups(1, 0).front();
  const auto before = lab::read_noise(f.cpus);
  f.clock_step_ns = observed_clock_step_ns();
  timespec claimed{};
  clock_getres(CLOCK_MONOTONIC, &claimed);
  f.clock_claims_ns = claimed.tv_sec * 1'000'000'000 + claimed.tv_nsec;
  f.harness_overhead_s = lab::measure_harness_overhead(find_programs(), f.cpus);
  usleep(static_cast<useconds_t>(kWatchSeconds * 1e6));
  f.noise = lab::read_noise(f.cpus);
  f.steal = lab::steal_fraction(before, f.noise);
  if (peaks) {
    f.ceilings = measure_ceilings(f.cpus);
    if (auto device = measure_device(find_programs(), f.device_trouble)) {
      f.ceilings->devices.push_back(std::move(*device));
    }
    f.ceilings_file = lab::save_ceilings(f.machine.fingerprint(), *f.ceilings);
  } else {
    f.ceilings = lab::load_ceilings(f.machine.fingerprint());
  }
  f.calibration = lab::load_calibration(f.machine.fingerprint());
  return f;
}

std::vector<std::string> warnings(const Findings& f) {
  std::vector<std::string> list;
  const auto busy = f.noise.load / static_cast<double>(f.cpus.size());
  if (busy > 0.3)
    list.push_back(fmt::format("the load is {:.2f} over {} cores: something else is running",
                               f.noise.load, f.cpus.size()));
  if (f.steal > 0.02)
    list.push_back(fmt::format(
        "the hypervisor takes {:.1f} % of the time: attempts will be excluded", 100 * f.steal));
  if (f.machine.governor != "performance" && f.machine.governor != "not available") {
    list.push_back(fmt::format("the governor is '{}': clocks vary with load", f.machine.governor));
  }
  if (!f.device_trouble.empty())
    list.push_back(fmt::format("the GPU's ceilings were not measured: {}", f.device_trouble));
  if (f.harness_overhead_s > 0.03)
    list.push_back("an empty attempt takes more than 30 ms: short points will be slow to measure");
  return list;
}

template <typename T>
std::string or_not_available(const std::optional<T>& value, const char* unit) {
  return value ? fmt::format("{} {}", *value, unit) : "not available";
}

void print_findings(const Findings& f) {
  const auto line = [](const char* name, const std::string& value) {
    std::fputs(fmt::format("  {:<18} {}\n", name, value).c_str(), stdout);
  };
  const auto& m = f.machine;
  std::fputs("machine\n", stdout);
  line("fingerprint", m.fingerprint());
  line("processor", fmt::format("{} ({})", m.cpu_model, m.architecture));
  line("cores", fmt::format("{} physical, {} logical, {} sockets; usable {}", m.cores,
                            m.logical_cpus, m.sockets, f.cpus.size()));
  line("memory", fmt::format("{}, {} available", format_bytes(static_cast<double>(m.memory_bytes)),
                             format_bytes(static_cast<double>(f.noise.free_memory))));
  std::string gpus;
  for (const auto& gpu : m.gpus) gpus += (gpus.empty() ? "" : ", ") + gpu;
  line("GPUs", gpus.empty() ? "none" : gpus + ", driver " + m.gpu_driver);
  line("system",
       fmt::format("{}, Linux {}{}", m.os, m.kernel, m.virtual_machine ? ", virtual machine" : ""));
  std::fputs("noise\n", stdout);
  line("load", fmt::format("{:.2f}", f.noise.load));
  line("steal", fmt::format("{:.2f} % over {:.0f} s", 100 * f.steal, kWatchSeconds));
  line("governor", m.governor);
  line("throttling", or_not_available(f.noise.throttle_events, "events"));
  line("temperature", or_not_available(f.noise.temperature_c, "°C"));
  std::fputs("harness\n", stdout);
  line("clock step",
       fmt::format("{} ns observed, {} ns claimed", f.clock_step_ns, f.clock_claims_ns));
  line("empty attempt", format_seconds(f.harness_overhead_s) + ", spawn to end");
  line("lock files", lab::lock_directory());
  if (f.ceilings) {
    std::fputs(format_ceilings(*f.ceilings).c_str(), stdout);
    if (!f.ceilings_file.empty()) line("kept in", f.ceilings_file);
  } else {
    std::fputs("ceilings: not measured (assay doctor --peaks)\n", stdout);
  }
  std::fputs(f.calibration
                 ? format_calibration(*f.calibration).c_str()
                 : "uncalibrated: how small a difference means anything here is not known "
                   "(assay calibrate)\n",
             stdout);
  if (!f.noise_lines.empty()) {
    std::fputs("noise of the rows, standard deviation\n", stdout);
    std::fputs(lab::noise_table(f.noise_lines).c_str(), stdout);
  }
  for (const auto& warning : warnings(f))
    std::fputs(fmt::format("warning: {}\n", warning).c_str(), stdout);
}

Json noise_json(const std::vector<lab::NoiseLine>& lines) {
  const auto number = [](const std::optional<double>& v) { return v ? Json(*v) : Json(); };
  Json list = Json::array();
  for (const auto& line : lines) {
    list.push_back({{"case", line.case_name},
                    {"point", line.point},
                    {"provider", line.provider},
                    {"platform", line.platform},
                    {"runs", line.budget.runs},
                    {"attempts", line.budget.attempts},
                    {"within_process", number(line.budget.within_process)},
                    {"between_processes", number(line.budget.between_processes)},
                    {"between_runs", number(line.budget.between_runs)},
                    {"two_heaps", line.bimodal}});
  }
  return list;
}

}  // namespace

int doctor(const DoctorArguments& a) {
  const auto f = examine(a.peaks, a.sources);
  if (!a.json) {
    print_findings(f);
    return kFine;
  }
  std::fputs((pretty_json({{"assay_version", lab::version()},
                           {"commit", kBuildCommit.commit},
                           {"dirty", kBuildCommit.dirty},
                           {"machine", f.machine.to_json()},
                           {"cpus", f.cpus},
                           {"noise", f.noise.to_json()},
                           {"steal_fraction", f.steal},
                           {"clock_step_ns", f.clock_step_ns},
                           {"clock_claims_ns", f.clock_claims_ns},
                           {"harness_overhead_s", f.harness_overhead_s},
                           {"ceilings", f.ceilings ? f.ceilings->to_json() : Json()},
                           {"calibration", f.calibration ? f.calibration->to_json() : Json()},
                           {"noise_budget", noise_json(f.noise_lines)},
                           {"warnings", warnings(f)}}) +
              "\n")
                 .c_str(),
             stdout);
  return kFine;
}

}  // namespace assay::cli
