// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/derive.h"

#include <algorithm>

#include "lab/record/metrics.h"
#include "lab/stats/quantile.h"

namespace assay::lab {

std::map<std::string, double> derive_metrics(const WorkerReport& report,
                                             const std::map<std::string, double>& work) {
  auto metrics = report.metrics;
  for (const auto& phase : report.phases) {
    if (phase.name == "prepare") {
      metrics["prepare_time"] = 1e-9 * static_cast<double>(phase.end_ns - phase.start_ns);
    }
  }
  for (const auto& [name, values] : report.samples) {
    if (find_metric(name) != nullptr && !values.empty()) metrics[name] = median(values);
  }
  if (report.steady_s.empty()) return metrics;
  const auto& t = report.steady_s;
  const double steady = median(t);
  metrics["steady_time"] = steady;
  metrics["steady_time_min"] = *std::ranges::min_element(t);
  metrics["steady_time_p10"] = quantile(t, 0.10);
  metrics["steady_time_p95"] = quantile(t, 0.95);
  metrics["steady_time_iqr"] = quantile(t, 0.75) - quantile(t, 0.25);
  metrics["steady_time_n"] = static_cast<double>(t.size());
  metrics["throughput"] = 1 / steady;
  if (const auto flops = work.find("flops"); flops != work.end()) {
    metrics["flop_rate"] = flops->second / steady;
  }
  if (const auto cases = work.find("cases"); cases != work.end()) {
    metrics["case_rate"] = cases->second / steady;
  }
  if (const auto bytes = work.find("bytes"); bytes != work.end()) {
    metrics["bandwidth"] = bytes->second / steady;
  }
  return metrics;
}

Samples samples_of(const WorkerReport& report) {
  Samples samples;
  samples.lists = report.samples;
  if (!report.steady_s.empty()) {
    samples.lists["steady_s"] = report.steady_s;
    samples.batch_calls = report.batch_calls;
  }
  return samples;
}

}  // namespace assay::lab
