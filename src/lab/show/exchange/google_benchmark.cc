// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Google Benchmark's JSON (--benchmark_out_format=json). All repetitions of a benchmark happen in
// one process: one row, the repetitions are its samples. Aggregates follow from them; they are used
// only where --benchmark_report_aggregates_only left nothing else.

#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/json_stream.h"
#include "lab/record/benchmark_entry.h"
#include "lab/show/exchange/import.h"
#include "lab/show/exchange/json_path.h"

namespace assay::lab {
namespace {

class Reader {
 public:
  Reader(ImportedFile& file, std::string_view what) : file_(file), what_(what) {}

  void add(const Json& entry) {
    const auto read = read_benchmark_entry(entry, what_);
    if (!read.aggregate.empty()) return add_aggregate(read);
    auto& attempt = attempt_of(read);
    if (!read.failure.empty()) {
      attempt.status = read.failure == "error_occurred" ? Status::kFailed : Status::kSkipped;
      attempt.failure = Failure{"steady", read.failure, read.message};
      return;
    }
    if (attempt.failure) return;  // one repetition of it failed: no times of the others
    attempt.samples_s.push_back(read.real_s);
    attempt.batch_calls = read.iterations;
    if (read.bytes_per_second) attempt.metrics["bandwidth"] = *read.bytes_per_second;
    Json counters = Json::object();
    for (const auto& [key, value] : entry.items()) {
      if (!is_benchmark_member(key)) counters[key] = value;
    }
    attempt.details["cpu_time_s"].push_back(read.cpu_s);
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
  ImportedAttempt& attempt_of(const BenchmarkEntry& read) {
    const auto [it, fresh] =
        index_.try_emplace({read.benchmark, read.threads}, file_.attempts.size());
    if (fresh) {
      auto& attempt = file_.attempts.emplace_back();
      attempt.benchmark = read.benchmark;
      attempt.threads = read.threads;
    }
    return file_.attempts[it->second];
  }

  void add_aggregate(const BenchmarkEntry& read) {
    if (read.aggregate != "median" && read.aggregate != "mean") return;
    auto& attempt = attempt_of(read);
    if (attempt.steady_time_is == "median") return;
    attempt.steady_time_s = read.real_s;
    attempt.steady_time_is = read.aggregate;
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
