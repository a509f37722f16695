// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Google Benchmark's JSON (--benchmark_out_format=json). All repetitions of a benchmark happen in
// one process: one row, the repetitions are its samples. Aggregates follow from them; they are used
// only where --benchmark_report_aggregates_only left nothing else.

#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/json_stream.h"
#include "lab/show/exchange/import.h"
#include "lab/show/exchange/json_path.h"

namespace assay::lab {
namespace {

double unit_of(const Json& entry, std::string_view what) {
  const auto unit = entry.contains("time_unit") ? json_field<std::string>(entry, "time_unit", what)
                                                : std::string("ns");
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  fail("{}: unknown time_unit '{}'", what, unit);
}

// Members every entry has; what else there is are user counters.
const std::set<std::string>& own_keys() {
  static const std::set<std::string> kKeys = {
      "name",           "family_index",     "per_family_instance_index",
      "run_name",       "run_type",         "repetitions",
      "threads",        "repetition_index", "iterations",
      "real_time",      "cpu_time",         "time_unit",
      "aggregate_name", "aggregate_unit",   "error_occurred",
      "error_message",  "skipped",          "skip_message",
      "label"};
  return kKeys;
}

class Reader {
 public:
  Reader(ImportedFile& file, std::string_view what) : file_(file), what_(what) {}

  void add(const Json& entry) {
    if (!entry.is_object()) fail("{}: a benchmark that is no object", what_);
    const auto name = json_field<std::string>(entry, "name", what_);
    const auto run_name = text_at(entry, "run_name").value_or(name);
    if (text_at(entry, "run_type").value_or("iteration") == "aggregate")
      return add_aggregate(entry, run_name);
    auto& attempt = attempt_of(run_name, entry);
    if (entry.value("error_occurred", false) || entry.value("skipped", false)) {
      const bool skipped = !entry.value("error_occurred", false);
      attempt.status = skipped ? Status::kSkipped : Status::kFailed;
      attempt.failure =
          Failure{"steady", skipped ? "skipped_by_benchmark" : "error_occurred",
                  text_at(entry, skipped ? "skip_message" : "error_message").value_or("")};
      return;
    }
    if (attempt.failure) return;  // one repetition of it failed: no times of the others
    const double unit = unit_of(entry, what_);
    attempt.samples_s.push_back(unit * json_field<double>(entry, "real_time", what_));
    attempt.batch_calls = json_field<std::int64_t>(entry, "iterations", what_);
    if (const auto rate = entry.find("bytes_per_second");
        rate != entry.end() && rate->is_number()) {
      attempt.metrics["bandwidth"] = rate->get<double>();
    }
    Json counters = Json::object();
    for (const auto& [key, value] : entry.items()) {
      if (!own_keys().contains(key)) counters[key] = value;
    }
    attempt.details["cpu_time_s"].push_back(unit * json_field<double>(entry, "cpu_time", what_));
    attempt.details["counters"] = std::move(counters);
    if (entry.contains("label")) attempt.details["label"] = entry["label"];
  }

  // Benchmarks of which there are aggregates only.
  void finish() {
    for (auto& attempt : file_.attempts) {
      if (!attempt.failure && attempt.samples_s.empty()) {
        if (!attempt.steady_time_s) {
          fail("{}: '{}' has neither repetitions nor a median or mean", what_, attempt.benchmark);
        }
      } else {
        attempt.steady_time_s.reset();
        attempt.steady_time_is.clear();
      }
      if (attempt.failure) attempt.samples_s.clear();
    }
  }

 private:
  ImportedAttempt& attempt_of(const std::string& name, const Json& entry) {
    const int threads = static_cast<int>(entry.value("threads", std::int64_t{1}));
    const auto [it, fresh] = index_.try_emplace({name, threads}, file_.attempts.size());
    if (fresh) {
      auto& attempt = file_.attempts.emplace_back();
      attempt.benchmark = name;
      attempt.threads = threads;
    }
    return file_.attempts[it->second];
  }

  void add_aggregate(const Json& entry, const std::string& run_name) {
    const auto kind = text_at(entry, "aggregate_name").value_or("");
    if (kind != "median" && kind != "mean") return;
    auto& attempt = attempt_of(run_name, entry);
    if (attempt.steady_time_is == "median") return;
    attempt.steady_time_s = unit_of(entry, what_) * json_field<double>(entry, "real_time", what_);
    attempt.steady_time_is = kind;
  }

  ImportedFile& file_;
  std::string_view what_;
  std::map<std::pair<std::string, int>, std::size_t> index_;
};

}  // namespace

ImportedFile read_google_benchmark(const Json& sketch, const TextPieces& text,
                                   std::string_view what) {
  if (!member(sketch, "context", what).is_object() ||
      !member(sketch, "benchmarks", what).is_array()) {
    fail("{}: not a google-benchmark file: 'context' or 'benchmarks' is of another kind", what);
  }
  ImportedFile file;
  Reader reader(file, what);
  const Json rest = for_each_element(text, what, std::array<std::string_view, 1>{"benchmarks"},
                                     [&](std::size_t, const Json& entry) { reader.add(entry); });
  reader.finish();
  const Json& context = member(rest, "context", what);
  file.tool = "google-benchmark";
  file.version = text_at(context, "library_version").value_or("");
  const auto executable =
      std::filesystem::path(text_at(context, "executable").value_or("")).filename();
  file.provider = executable.empty() ? file.tool : executable.string();
  file.isolation = "in-process";
  file.unix_ns = parse_time(text_at(context, "date").value_or(""), file.zone_stated);
  for (const char* key : {"host_name", "num_cpus", "caches"}) {
    if (context.contains(key)) file.hardware[key] = context[key];
  }
  if (context.contains("num_cpus")) file.host["logical_cpus"] = context["num_cpus"];
  file.host["reported"] = context;
  return file;
}

}  // namespace assay::lab
