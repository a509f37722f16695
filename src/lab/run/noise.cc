// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/noise.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "lab/record/fields.h"

namespace assay::lab {
namespace {

constexpr std::size_t kStealColumn = 7;  // of a cpu line in /proc/stat, after the name

std::int64_t counter(const std::string& text, const std::string& name) {
  const auto at = text.find("\n" + name + " ");
  return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + name.size() + 2);
}

std::optional<std::int64_t> throttle_events(const std::vector<int>& cpus) {
  std::optional<std::int64_t> sum;
  for (const int cpu : cpus) {
    const auto text = read_small_file(
        fmt::format("/sys/devices/system/cpu/cpu{}/thermal_throttle/core_throttle_count", cpu));
    if (text) sum = sum.value_or(0) + std::atoll(text->c_str());
  }
  return sum;
}

std::optional<double> hottest_zone() {
  std::optional<double> hottest;
  std::error_code none;
  for (const auto& zone : std::filesystem::directory_iterator("/sys/class/thermal", none)) {
    const auto text = read_small_file(zone.path().string() + "/temp");
    if (text) hottest = std::max(hottest.value_or(-273.0), std::atof(text->c_str()) / 1000);
  }
  return hottest;
}

}  // namespace

NoiseSnapshot read_noise(const std::vector<int>& cpus) {
  NoiseSnapshot snapshot;
  snapshot.load = std::atof(read_small_file("/proc/loadavg").value_or("0").c_str());
  std::istringstream stat(read_small_file("/proc/stat").value_or(""));
  for (std::string line; std::getline(stat, line);) {
    std::istringstream fields(line);
    std::string name;
    fields >> name;
    if (name.size() < 4 || name.compare(0, 3, "cpu") != 0) continue;
    const int cpu = std::atoi(name.c_str() + 3);
    if (std::ranges::find(cpus, cpu) == cpus.end()) continue;
    std::vector<std::int64_t> ticks;
    // guest time (the last two columns) is already part of user time
    for (std::int64_t value; ticks.size() <= kStealColumn && fields >> value;)
      ticks.push_back(value);
    if (ticks.size() <= kStealColumn) continue;
    snapshot.steal_ticks[cpu] = ticks[kStealColumn];
    for (const auto value : ticks) snapshot.total_ticks[cpu] += value;
    snapshot.busy_ticks[cpu] = ticks[0] + ticks[1] + ticks[2];  // user, nice, system
  }
  const auto vmstat = read_small_file("/proc/vmstat").value_or("");
  snapshot.pages_swapped = counter(vmstat, "pswpin") + counter(vmstat, "pswpout");
  const auto meminfo = read_small_file("/proc/meminfo").value_or("");
  snapshot.free_memory = static_cast<std::uint64_t>(counter(meminfo, "MemAvailable:")) * 1024;
  snapshot.throttle_events = throttle_events(cpus);
  snapshot.temperature_c = hottest_zone();
  return snapshot;
}

double steal_fraction(const NoiseSnapshot& before, const NoiseSnapshot& after) {
  std::int64_t steal = 0, total = 0;
  for (const auto& [cpu, ticks] : after.total_ticks) {
    const auto start = before.total_ticks.find(cpu);
    if (start == before.total_ticks.end()) continue;
    total += ticks - start->second;
    // The kernel counts whole ticks of 10 ms: one tick of a processor may be an accident of
    // rounding, so that it is not held against a short attempt.
    const auto ticks_stolen = after.steal_ticks.at(cpu) - before.steal_ticks.at(cpu);
    steal += std::max<std::int64_t>(0, ticks_stolen - 1);
  }
  return total > 0 ? static_cast<double>(steal) / static_cast<double>(total) : 0;
}

double foreign_fraction(const NoiseSnapshot& before, const NoiseSnapshot& after, double own_s) {
  // What the kernel charges is rounded to ticks, at both ends and for whoever runs when it looks:
  // two ticks of a processor may be an accident, and are not held against a short attempt.
  constexpr std::int64_t kRounding = 2;
  std::int64_t busy = 0, total = 0;
  for (const auto& [cpu, ticks] : after.total_ticks) {
    const auto start = before.total_ticks.find(cpu);
    if (start == before.total_ticks.end()) continue;
    total += ticks - start->second;
    busy += after.busy_ticks.at(cpu) - before.busy_ticks.at(cpu) - kRounding;
  }
  const double own = own_s * static_cast<double>(::sysconf(_SC_CLK_TCK));
  const double others = static_cast<double>(busy) - own;
  return total > 0 ? std::max(0.0, others) / static_cast<double>(total) : 0;
}

std::optional<std::string> contamination(const NoiseSnapshot& before, const NoiseSnapshot& after,
                                         double own_s, const NoiseLimits& limits) {
  if (const double steal = steal_fraction(before, after); steal > limits.steal) {
    return fmt::format("steal: the hypervisor took {:.1f} % of the core group's time", 100 * steal);
  }
  if (const double foreign = foreign_fraction(before, after, own_s); foreign > limits.foreign) {
    return fmt::format("load: other programs took {:.1f} % of the core group's time",
                       100 * foreign);
  }
  if (before.throttle_events && after.throttle_events > before.throttle_events) {
    return fmt::format("throttling: {} events", *after.throttle_events - *before.throttle_events);
  }
  if (after.pages_swapped > before.pages_swapped) {
    return fmt::format("swap: {} pages moved", after.pages_swapped - before.pages_swapped);
  }
  return std::nullopt;
}

Json NoiseSnapshot::to_json() const {
  std::int64_t steal = 0, total = 0;
  for (const auto& [cpu, ticks] : steal_ticks) steal += ticks;
  for (const auto& [cpu, ticks] : total_ticks) total += ticks;
  return {{"load", load},
          {"steal_ticks", steal},
          {"total_ticks", total},
          {"throttle_events", value_to_json(throttle_events)},
          {"pages_swapped", pages_swapped},
          {"free_memory", free_memory},
          {"free_device_memory", Json()},
          {"temperature_c", value_to_json(temperature_c)}};
}

}  // namespace assay::lab
