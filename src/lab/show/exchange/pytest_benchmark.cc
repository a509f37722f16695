// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// pytest-benchmark's JSON (--benchmark-json, or a saved run). All rounds of a test happen in one
// process: one row. Their times are there only with --benchmark-save-data; otherwise its own
// figures are taken.

#include <cmath>

#include "base/error.h"
#include "lab/show/exchange/import.h"
#include "lab/show/exchange/json_path.h"

namespace assay::lab {
namespace {

void read_host(const Json& info, ImportedFile& file) {
  const Json cpu = info.contains("cpu") && info["cpu"].is_object() ? info["cpu"] : Json::object();
  const auto model = text_at(cpu, "brand_raw").value_or(text_at(cpu, "brand").value_or(""));
  if (!model.empty()) file.hardware["cpu_model"] = file.host["cpu_model"] = model;
  if (cpu.contains("count")) file.hardware["count"] = file.host["logical_cpus"] = cpu["count"];
  for (const char* key : {"node", "machine"}) {
    if (info.contains(key)) file.hardware[key] = info[key];
  }
  if (const auto system = text_at(info, "system").value_or(""); !system.empty())
    file.host["os"] = system;
  if (const auto kernel = text_at(info, "release").value_or(""); !kernel.empty())
    file.host["kernel"] = kernel;
  file.host["reported"] = info;
}

ImportedAttempt read_benchmark(const Json& entry, std::string_view what) {
  ImportedAttempt attempt;
  const auto name = json_field<std::string>(entry, "name", what);
  attempt.benchmark = text_at(entry, "fullname").value_or(name);
  if (const auto it = entry.find("params"); it != entry.end() && it->is_object()) {
    attempt.point = *it;
  }
  const Json& stats = member(entry, "stats", what);
  if (!stats.is_object()) fail("{}: 'stats' of '{}' is no object", what, name);
  attempt.batch_calls = stats.value("iterations", std::int64_t{0});
  if (const auto data = stats.find("data");
      data != stats.end() && data->is_array() && !data->empty()) {
    for (const auto& value : *data) {
      if (!value.is_number()) fail("{}: a time of '{}' is no number", what, name);
      attempt.samples_s.push_back(value.get<double>());
    }
  } else {
    attempt.steady_time_s = json_field<double>(stats, "median", what);
    attempt.steady_time_is = "median";
    attempt.metrics["steady_time_min"] = json_field<double>(stats, "min", what);
    attempt.metrics["steady_time_iqr"] = json_field<double>(stats, "iqr", what);
    attempt.metrics["steady_time_n"] = json_field<double>(stats, "rounds", what);
  }
  for (const char* key : {"group", "extra_info", "options"}) {
    if (entry.contains(key)) attempt.details[key] = entry[key];
  }
  return attempt;
}

}  // namespace

ImportedFile read_pytest_benchmark(const Json& json, std::string_view what) {
  const Json& info = member(json, "machine_info", what);
  const Json& benchmarks = member(json, "benchmarks", what);
  if (!info.is_object() || !benchmarks.is_array()) {
    fail("{}: not a pytest-benchmark file: 'machine_info' or 'benchmarks' is of another kind",
         what);
  }
  ImportedFile file;
  file.tool = "pytest-benchmark";
  file.version = text_at(json, "version").value_or("");
  file.provider = file.tool;
  file.isolation = "in-process";
  file.unix_ns = parse_time(text_at(json, "datetime").value_or(""), file.zone_stated);
  read_host(info, file);
  if (const auto it = json.find("commit_info"); it != json.end() && it->is_object()) {
    if (const auto id = text_at(*it, "id").value_or(""); id != "unversioned" && id != "unknown") {
      file.commit = id;
      file.branch = text_at(*it, "branch").value_or("");
      if (it->contains("dirty") && (*it)["dirty"].is_boolean()) file.dirty = (*it)["dirty"] == true;
    }
  }
  for (const auto& entry : benchmarks) file.attempts.push_back(read_benchmark(entry, what));
  return file;
}

}  // namespace assay::lab
