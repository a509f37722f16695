// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay::lab {

// What the machine was doing at one moment. Counters that a machine does not have are absent.
struct NoiseSnapshot {
  double load = 0;                          // one-minute load average
  std::map<int, std::int64_t> steal_ticks;  // by cpu: time the hypervisor gave to others
  std::map<int, std::int64_t> total_ticks;
  std::map<int, std::int64_t> busy_ticks;  // of programs, ours or others', and of the kernel's own
  std::optional<std::int64_t> throttle_events;  // summed over the cpus
  std::int64_t pages_swapped = 0;               // in and out, since boot
  std::uint64_t free_memory = 0;                // bytes available
  std::optional<double> temperature_c;          // the hottest zone

  Json to_json() const;
};

NoiseSnapshot read_noise(const std::vector<int>& cpus);

// The share of the group's time that the hypervisor gave to others between two snapshots.
double steal_fraction(const NoiseSnapshot& before, const NoiseSnapshot& after);

// The share of the group's time that went to other programs: what its processors were busy with
// between two snapshots, less the `own_s` seconds of processor time of the attempt and its runner.
double foreign_fraction(const NoiseSnapshot& before, const NoiseSnapshot& after, double own_s);

// More excludes an attempt, as a share of its core group's time.
struct NoiseLimits {
  double steal, foreign;
};

// Why an attempt between the snapshots is contaminated, or nothing. Looks at causes only, never at
// how long its calls took.
std::optional<std::string> contamination(const NoiseSnapshot& before, const NoiseSnapshot& after,
                                         double own_s, const NoiseLimits& limits);

}  // namespace assay::lab
