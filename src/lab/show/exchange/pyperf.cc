// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// pyperf's JSON, format 1.0. Each run with values is a process of its own: a row each
// (ProcessRows). Runs that only calibrate have no values and are left out. Metadata that all runs
// share stands in the file, that of a benchmark in the benchmark, the rest in each run.

#include <algorithm>

#include "base/error.h"
#include "lab/show/exchange/import.h"
#include "lab/show/exchange/json_path.h"

namespace assay::lab {
namespace {

Json metadata_of(const Json& object) {
  const auto it = object.find("metadata");
  return it != object.end() && it->is_object() ? *it : Json::object();
}

void read_run(const Json& run, const Json& shared, const std::string& name, std::string_view what,
              ImportedFile& file, ProcessRows& processes) {
  Json metadata = shared;
  metadata.update(metadata_of(run));
  if (!file.unix_ns)
    file.unix_ns = parse_time(text_at(metadata, "date").value_or(""), file.zone_stated);
  if (!run.is_object() || !run.contains("values")) return;  // it calibrated
  ImportedAttempt attempt;
  attempt.benchmark = name;
  std::vector<double> values;
  for (const auto& value : run["values"]) {
    if (!value.is_number()) fail("{}: a value of '{}' is no number", what, name);
    values.push_back(value.get<double>());
  }
  if (values.empty()) fail("{}: a run of '{}' without values", what, name);
  if (file.primary_metric == "steady_time") {
    attempt.samples_s = std::move(values);
    attempt.batch_calls =
        metadata.value("loops", std::int64_t{1}) * metadata.value("inner_loops", std::int64_t{1});
    if (const auto it = metadata.find("mem_max_rss"); it != metadata.end() && it->is_number()) {
      attempt.metrics["peak_rss_steady"] = it->get<double>();
    }
  } else {
    attempt.metrics[file.primary_metric] = *std::ranges::max_element(values);
  }
  attempt.details = metadata;
  processes.add(std::move(attempt));
}

}  // namespace

ImportedFile read_pyperf(const Json& json, std::string_view what) {
  const Json& benchmarks = member(json, "benchmarks", what);
  if (!benchmarks.is_array()) fail("{}: not a pyperf file: 'benchmarks' is no list", what);
  const Json common = metadata_of(json);
  ImportedFile file;
  file.tool = "pyperf";
  file.isolation = "process";
  Json described = common;
  if (!benchmarks.empty()) described.update(metadata_of(benchmarks[0]));
  file.version = text_at(described, "perf_version").value_or("");
  const auto python = text_at(described, "python_version").value_or("");
  file.provider = python.empty() ? "python"
                                 : text_at(described, "python_implementation").value_or("python") +
                                       " " + python.substr(0, python.find(' '));
  for (const char* key : {"cpu_model_name", "cpu_count", "hostname"}) {
    if (described.contains(key)) file.hardware[key] = described[key];
  }
  if (const auto model = text_at(described, "cpu_model_name").value_or(""); !model.empty()) {
    file.host["cpu_model"] = model;
  }
  if (const auto os = text_at(described, "platform").value_or(""); !os.empty())
    file.host["os"] = os;
  file.host["reported"] = common;
  const auto rows = rows_of_each(benchmarks.size(), what);
  for (const auto& benchmark : benchmarks) {
    Json shared = common;
    shared.update(metadata_of(benchmark));
    const auto name = text_at(shared, "name").value_or("");
    if (name.empty()) fail("{}: a benchmark without a name", what);
    const auto unit = text_at(shared, "unit").value_or("second");
    const std::string metric = unit == "second" ? "steady_time"
                               : unit == "byte" ? "peak_rss_steady"
                                                : "";
    if (metric.empty())
      fail("{}: '{}' is measured in a unit we have no metric for: '{}'", what, name, unit);
    if (!file.attempts.empty() && file.primary_metric != metric) {
      fail("{}: benchmarks of different units in one file, '{}' among them", what, name);
    }
    file.primary_metric = metric;
    const Json& runs = member(benchmark, "runs", what);
    if (!runs.is_array()) fail("{}: the 'runs' of '{}' are no list", what, name);
    ProcessRows processes(file.attempts, runs.size(), rows);
    for (const auto& run : runs) read_run(run, shared, name, what, file, processes);
    processes.finish();
  }
  return file;
}

}  // namespace assay::lab
