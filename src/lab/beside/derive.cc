// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/derive.h"

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
  add_steady_statistics(report.steady_s, metrics);
  const double steady = metrics["steady_time"];
  metrics["throughput"] = 1 / steady;
  for (const auto& [amount, rate] : {std::pair("flops", "flop_rate"),
                                     {"cases", "case_rate"},
                                     {"events", "simulator_event_rate"},
                                     {"bytes", "bandwidth"}}) {
    if (const auto found = work.find(amount); found != work.end()) {
      metrics[rate] = found->second / steady;
    }
  }
  if (const auto tokens = work.find("tokens"); tokens != work.end()) {
    const auto of_tokens = metrics.find("stage_tokens");
    const double time = of_tokens == metrics.end() ? steady : of_tokens->second;
    metrics["token_time"] = time / tokens->second;
  }
  return metrics;
}

void add_steady_statistics(const std::vector<double>& seconds, std::map<std::string, double>& to) {
  to["steady_time"] = median(seconds);
  to["steady_time_min"] = quantile(seconds, 0);
  to["steady_time_p10"] = quantile(seconds, 0.10);
  to["steady_time_p95"] = quantile(seconds, 0.95);
  to["steady_time_iqr"] = quantile(seconds, 0.75) - quantile(seconds, 0.25);
  to["steady_time_n"] = static_cast<double>(seconds.size());
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
