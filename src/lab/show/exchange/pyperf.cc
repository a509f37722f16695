// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// pyperf's JSON, format 1.0. Each run with values is a process of its own: a row each
// (ProcessRows). Runs that only calibrate have no values and are left out. Metadata that all runs
// share stands in the file, that of a benchmark in the benchmark, the rest in each run.

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/json_stream.h"
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

// The benchmarks one after another, each with its runs.
class PyperfReader {
 public:
  // `json` is the file without the runs, of which each benchmark has so many.
  PyperfReader(ImportedFile& file, const Json& json, std::vector<std::size_t> runs,
               std::string_view what)
      : file_(file),
        common_(metadata_of(json)),
        benchmarks_(member(json, "benchmarks", what)),
        runs_(std::move(runs)),
        rows_(rows_of_each(benchmarks_.size(), what)),
        what_(what) {
    runs_.resize(benchmarks_.size());
  }

  void add(std::size_t benchmark, const Json& run) {
    begin_until(benchmark + 1);
    read_run(run, shared_, name_, what_, file_, *processes_);
  }
  void finish() {
    begin_until(benchmarks_.size());
    if (processes_) processes_->finish();
  }

 private:
  void begin_until(std::size_t end) {
    for (; begun_ < end; ++begun_) {
      if (processes_) processes_->finish();
      begin(benchmarks_.at(begun_));
      processes_.emplace(file_.attempts, runs_[begun_], rows_);
    }
  }

  void begin(const Json& benchmark) {
    shared_ = common_;
    shared_.update(metadata_of(benchmark));
    name_ = text_at(shared_, "name").value_or("");
    if (name_.empty()) fail("{}: a benchmark without a name", what_);
    const auto unit = text_at(shared_, "unit").value_or("second");
    const std::string metric = unit == "second" ? "steady_time"
                               : unit == "byte" ? "peak_rss_steady"
                                                : "";
    if (metric.empty())
      fail("{}: '{}' is measured in a unit we have no metric for: '{}'", what_, name_, unit);
    if (!file_.attempts.empty() && file_.primary_metric != metric) {
      fail("{}: benchmarks of different units in one file, '{}' among them", what_, name_);
    }
    file_.primary_metric = metric;
    if (!member(benchmark, "runs", what_).is_array()) {
      fail("{}: the 'runs' of '{}' are no list", what_, name_);
    }
  }

  ImportedFile& file_;
  const Json common_;
  const Json& benchmarks_;
  std::vector<std::size_t> runs_;
  std::size_t rows_;
  std::string_view what_;
  // Of the benchmark that was begun last.
  std::size_t begun_ = 0;
  Json shared_;
  std::string name_;
  std::optional<ProcessRows> processes_;
};

}  // namespace

ImportedFile read_pyperf(const TextPieces& text, std::string_view what) {
  // Metadata may stand behind the runs, and how many share a row follows from how many there are:
  // first all but the runs, then these.
  constexpr std::array<std::string_view, 2> kRuns = {"benchmarks", "runs"};
  std::vector<std::size_t> counts;
  const Json json = for_each_element(text, what, kRuns, [&](std::size_t benchmark, const Json&) {
    if (counts.size() <= benchmark) counts.resize(benchmark + 1);
    ++counts[benchmark];
  });
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
  PyperfReader reader(file, json, std::move(counts), what);
  for_each_element(text, what, kRuns,
                   [&](std::size_t benchmark, const Json& run) { reader.add(benchmark, run); });
  reader.finish();
  return file;
}

}  // namespace assay::lab
