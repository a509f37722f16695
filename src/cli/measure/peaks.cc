// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/peaks.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/process.h"
#include "base/units.h"
#include "kernels/peaks/peaks.h"
#include "lab/record/protocol.h"
#include "lab/run/cores.h"
#include "lab/run/gpu.h"

namespace assay::cli {
namespace {

// Rounds are spread over seconds, so that some of them fall between what disturbs the machine.
constexpr int kRounds = 40;
// Below and at each level of the caches, and beyond the last.
const std::vector<std::int64_t> kReadBytes = {16 << 10, 256 << 10, 1 << 20,
                                              4 << 20,  16 << 20,  128 << 20};

void stay_on(const std::vector<int>& cpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &mask);
  sched_setaffinity(0, sizeof mask, &mask);
}

lab::Ceilings::Group measure_group(const std::vector<int>& cpus, std::string& instruction_set) {
  stay_on(cpus);
  const auto peaks = kernels::measure_peaks({.threads = static_cast<int>(cpus.size()),
                                             .rounds = kRounds,
                                             .read_bytes = kReadBytes,
                                             .triad_bytes = 64 << 20});
  instruction_set = peaks.instruction_set;
  lab::Ceilings::Group group;
  group.cores = static_cast<int>(cpus.size());
  group.clock_hz = peaks.clock_hz;
  const auto add = [&](const char* dtype, const kernels::ArithmeticPeaks& p) {
    group.rates[fmt::format("fma_{}", dtype)] = p.fma;
    group.rates[fmt::format("add_max_{}", dtype)] = p.add_max;
    group.rates[fmt::format("sub_fma_{}", dtype)] = p.sub_fma;
    group.rates[fmt::format("exp_{}", dtype)] = p.exp;
  };
  add("f32", peaks.f32);
  add("f64", peaks.f64);
  for (const auto& read : peaks.read) {
    group.rates[fmt::format("read_{}", read.bytes)] = read.bytes_per_second;
  }
  group.rates["triad"] = peaks.triad_bytes_per_second;
  return group;
}

struct Line {
  std::string name;   // in Ceilings
  std::string words;  // for people
  const char* unit;
};

std::vector<Line> lines_of(const lab::Ceilings& ceilings) {
  std::vector<Line> lines;
  for (const char* dtype : {"f32", "f64"}) {
    lines.push_back({fmt::format("fma_{}", dtype), fmt::format("multiply-add {}", dtype), "G/s"});
    lines.push_back(
        {fmt::format("add_max_{}", dtype), fmt::format("add and max {}", dtype), "G/s"});
    lines.push_back(
        {fmt::format("sub_fma_{}", dtype), fmt::format("subtract, multiply-add {}", dtype), "G/s"});
    lines.push_back({fmt::format("exp_{}", dtype), fmt::format("exponential {}", dtype), "G/s"});
  }
  std::vector<std::int64_t> sizes;
  for (const auto& [name, rate] : ceilings.groups.front().rates) {
    std::int64_t size = 0;
    if (!name.starts_with("read_")) continue;
    std::from_chars(name.data() + 5, name.data() + name.size(), size);
    sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  for (const auto size : sizes) {
    lines.push_back({fmt::format("read_{}", size),
                     fmt::format("read {} a core", format_bytes(static_cast<double>(size))),
                     "GB/s"});
  }
  lines.push_back({"triad", "triad in memory", "GB/s"});
  return lines;
}

std::string device_text(const lab::Ceilings::Device& device) {
  std::string text = fmt::format("ceilings of {}\n", device.name);
  const auto bytes = [](std::string_view name) {
    return name == "copy" || name == "triad" || name.starts_with("read_") ||
           name.starts_with("to_device") || name.starts_with("from_device");
  };
  for (const auto& [name, rate] : device.rates) {
    const bool launches = name.starts_with("launch");
    const int each = bytes(name) ? 1 : lab::Ceilings::operations(name);
    text += launches ? fmt::format("  {:<27} {:>16}\n", name, format_seconds(1 / rate))
                     : fmt::format("  {:<27} {:>16}\n", name,
                                   format_rate(each * rate, bytes(name) ? "B/s" : "op/s"));
  }
  return text;
}

}  // namespace

lab::Ceilings measure_ceilings(const std::vector<int>& cpus) {
  const std::atomic<bool> never = false;
  const auto lock = lab::CoreLock::acquire(
      cpus, never, [] { std::fputs("waiting: another runner holds the cores\n", stderr); });
  lab::Ceilings ceilings;
  ceilings.measured = utc_iso8601(realtime_ns());
  std::vector<std::vector<int>> groups = {{cpus.front()}};
  if (cpus.size() > 1) groups.push_back(cpus);
  for (const auto& group : groups) {
    std::fputs(fmt::format("measuring the ceilings of {} core{} …\n", group.size(),
                           group.size() == 1 ? "" : "s")
                   .c_str(),
               stderr);
    ceilings.groups.push_back(measure_group(group, ceilings.instruction_set));
  }
  stay_on(cpus);
  return ceilings;
}

std::optional<lab::Ceilings::Device> measure_device(const lab::Programs& programs,
                                                    std::string& why_not) {
  if (const auto none = lab::why_no_gpu()) return std::nullopt;
  const lab::RunGpu gpu(programs);
  if (const auto trouble = gpu.trouble()) {
    why_not = trouble->message;
    return std::nullopt;
  }
  const std::atomic<bool> never = false;
  const auto lock = lab::CoreLock::acquire(
      {}, never, [] { std::fputs("waiting: another runner holds the GPU\n", stderr); },
      gpu.gpu().uuid);
  std::fputs(fmt::format("measuring the ceilings of {} …\n", gpu.gpu().name).c_str(), stderr);
  ProcessSpec spec;
  spec.argv = {programs.worker_cuda, lab::kPeaksOption};
  spec.environment = gpu.environment();
  spec.time_limit_s = 120;
  const auto result = run_process(spec);
  if (result.exit_code != 0) {
    why_not = result.stderr_text.empty()
                  ? "the worker for it did not answer"
                  : result.stderr_text.substr(0, result.stderr_text.find('\n'));
    return std::nullopt;
  }
  return lab::Ceilings::device_from_json(parse_checked_json(result.stdout_text, "--peaks"),
                                         "assay-worker-cuda --peaks");
}

std::string format_ceilings(const lab::Ceilings& ceilings) {
  std::string text =
      fmt::format("ceilings, measured {}, {}\n", ceilings.measured, ceilings.instruction_set);
  const auto row = [&](const std::string& name, const auto& cell) {
    text += fmt::format("  {:<27}", name);
    for (const auto& group : ceilings.groups) text += fmt::format(" {:>16}", cell(group));
    text += "\n";
  };
  row("", [](const auto& g) { return fmt::format("{} core{}", g.cores, g.cores == 1 ? "" : "s"); });
  row("clock", [](const auto& g) { return fmt::format("{:.2f} GHz", 1e-9 * g.clock_hz); });
  for (const auto& line : lines_of(ceilings)) {
    row(line.words, [&](const auto& g) {
      const auto it = g.rates.find(line.name);
      return it == g.rates.end() ? "not measured"
                                 : fmt::format("{:.1f} {}", 1e-9 * it->second, line.unit);
    });
  }
  for (const auto& device : ceilings.devices) text += device_text(device);
  return text;
}

}  // namespace assay::cli
