// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/stage_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/record/metrics.h"

namespace assay::lab {
namespace {

constexpr double kRoundingUs = 1e-3;  // the clock's nanosecond

struct Stage {
  std::string name;
  double us = 0;
};

double length_us(const std::vector<Stage>& stages) {
  double all = 0;
  for (const auto& s : stages) all += s.us;
  return all;
}

// In the order of the table of metrics, which is that of a call.
template <typename Seconds>
std::vector<Stage> stages_of(const Seconds& seconds_of) {
  std::vector<Stage> stages;
  for (const auto& metric : kMetrics) {
    if (!metric.name.starts_with(kStage)) continue;
    const auto name = std::string(metric.name.substr(kStage.size()));
    const double seconds = seconds_of(name);
    if (std::isfinite(seconds) && seconds > 0) stages.push_back({name, 1e6 * seconds});
  }
  return stages;
}

void append(std::vector<StageSlice>& out, const std::vector<Stage>& stages, double start_us) {
  for (const auto& s : stages) {
    out.push_back({s.name, start_us, s.us});
    start_us += s.us;
  }
}

double sample(const Row& row, const std::string& name, std::size_t index) {
  const auto& list = row.samples[name];
  return index < list.size() ? list[index] : NAN;
}

}  // namespace

std::vector<StageSlice> stages_in(const Row& row, std::string_view phase, double phase_us) {
  std::vector<StageSlice> out;
  if (phase == "cold") {
    const auto stages = stages_of([&](const std::string& name) {
      return row.metric_or_nan(fmt::format("{}{}", kColdStage, name));
    });
    if (length_us(stages) <= phase_us + kRoundingUs) append(out, stages, 0);
  } else if (phase == "steady") {
    const auto calls = static_cast<double>(row.samples.batch_calls.value_or(0));
    double end_us = 0;
    for (std::size_t batch = 0;; ++batch) {
      const double us = 1e6 * calls * sample(row, "steady_s", batch);
      if (!(us > 0)) break;
      end_us += us;
      const auto stages = stages_of([&](const std::string& name) {
        return sample(row, fmt::format("{}{}", kStage, name), batch);
      });
      const bool fits = length_us(stages) <= us + kRoundingUs && end_us <= phase_us + kRoundingUs;
      if (!fits) continue;
      append(out, stages, end_us - length_us(stages));
    }
  }
  return out;
}

}  // namespace assay::lab
