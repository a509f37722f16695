// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/protocol.h"

#include <cmath>

#include "base/error.h"
#include "lab/record/fields.h"
#include "lab/record/metrics.h"

namespace assay::lab {
namespace {

void check_protocol(const Json& json, std::string_view what) {
  const auto version = json_field<std::int64_t>(json, "protocol", what);
  if (version != kProtocol) fail("{}: unknown worker protocol {}", what, version);
}

Json optional_object(const Json& json, std::string_view key, std::string_view what) {
  const auto it = json.find(std::string(key));
  if (it == json.end() || it->is_null()) return Json::object();
  if (!it->is_object()) fail("{}: key '{}' must be an object, got {}", what, key, it->type_name());
  return *it;
}

std::string optional_text(const Json& json, std::string_view key) {
  const auto it = json.find(std::string(key));
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::vector<double> numbers(const Json& array, std::string_view what) {
  if (!array.is_array()) fail("{}: expected a list of numbers, got {}", what, array.type_name());
  std::vector<double> values;
  for (const auto& value : array) values.push_back(number_from_json(value, what));
  return values;
}

bool workers_to_give(Status status) {
  return status == Status::kOk || status == Status::kFailed || status == Status::kEnvMissing ||
         status == Status::kOutOfMemory || status == Status::kSkipped;
}

}  // namespace

Json settings_to_json(const MeasureSettings& settings) {
  Json json = Json::object();
  each_setting(settings, [&]<typename T>(const char* key, const T& value) {
    if (std::is_same_v<T, bool> && value == T{}) return;  // a choice that was not made
    json[key] = value;
  });
  return json;
}

MeasureSettings settings_from_json(const Json& json, std::string_view what) {
  MeasureSettings settings;
  each_setting(settings, [&]<typename T>(const char* key, T& value) {
    if (std::is_same_v<T, bool> && !json.contains(key)) return;
    using Stored = std::conditional_t<std::is_same_v<T, int>, std::int64_t, T>;
    value = static_cast<T>(json_field<Stored>(json, key, what));
  });
  return settings;
}

Json spec_to_json(const WorkerSpec& spec) {
  Json json = {{"protocol", kProtocol},
               {"case", spec.case_name},
               {"provider", spec.provider},
               {"platform", spec.platform},
               {"cores", spec.cores},
               {"cpus", spec.cpus},
               {"points", spec.points},
               {"deterministic", spec.deterministic},
               {"settings", settings_to_json(spec.settings)},
               {"directory", spec.directory}};
  if (!spec.definition.is_null()) json["definition"] = spec.definition;
  return json;
}

WorkerSpec spec_from_json(const Json& json, std::string_view what) {
  check_protocol(json, what);
  WorkerSpec spec;
  spec.case_name = json_field<std::string>(json, "case", what);
  spec.provider = json_field<std::string>(json, "provider", what);
  spec.platform = json_field<std::string>(json, "platform", what);
  spec.cores = static_cast<int>(json_field<std::int64_t>(json, "cores", what));
  for (const double cpu : numbers(json_field<Json>(json, "cpus", what), what)) {
    spec.cpus.push_back(static_cast<int>(cpu));
  }
  const auto points = json_field<Json>(json, "points", what);
  spec.points.assign(points.begin(), points.end());
  spec.deterministic = json_field<bool>(json, "deterministic", what);
  spec.settings = settings_from_json(json_field<Json>(json, "settings", what), what);
  spec.directory = json_field<std::string>(json, "directory", what);
  if (const auto definition = json.find("definition"); definition != json.end()) {
    spec.definition = *definition;
  }
  return spec;
}

Json report_to_json(const WorkerReport& report) {
  Json phases = Json::array();
  for (const auto& p : report.phases) {
    phases.push_back({{"name", p.name}, {"start_ns", p.start_ns}, {"end_ns", p.end_ns}});
  }
  return {{"protocol", kProtocol},
          {"status", name_of(report.status)},
          {"phase", report.phase},
          {"code", report.code},
          {"message", report.message},
          {"metrics", value_to_json(report.metrics)},
          {"steady_s", report.steady_s},
          {"batch_calls", report.batch_calls},
          {"samples", report.samples},
          {"versions", report.versions},
          {"phases", phases}};
}

WorkerReport report_from_json(const Json& json, std::string_view what) {
  check_protocol(json, what);
  WorkerReport report;
  report.status = status_from_name(json_field<std::string>(json, "status", what), what);
  if (!workers_to_give(report.status)) {
    fail("{}: not a worker's status to give: '{}'", what, name_of(report.status));
  }
  report.phase = optional_text(json, "phase");
  report.code = optional_text(json, "code");
  report.message = optional_text(json, "message");
  const auto metrics = optional_object(json, "metrics", what);
  for (const auto& [name, value] : metrics.items()) {
    if (find_metric(name) == nullptr) fail("{}: unknown metric '{}'", what, name);
    report.metrics[name] = number_from_json(value, what);
  }
  if (json.contains("steady_s")) report.steady_s = numbers(json["steady_s"], what);
  for (const double t : report.steady_s) {
    if (!(t > 0) || !std::isfinite(t))
      fail("{}: steady time is not a positive number: {}", what, t);
  }
  if (json.contains("batch_calls")) {
    report.batch_calls = json_field<std::int64_t>(json, "batch_calls", what);
  }
  const auto samples = optional_object(json, "samples", what);
  for (const auto& [name, values] : samples.items()) report.samples[name] = numbers(values, what);
  const auto versions = optional_object(json, "versions", what);
  for (const auto& [name, value] : versions.items()) {
    report.versions[name] = value.is_string() ? value.get<std::string>() : canonical_json(value);
  }
  if (json.contains("phases")) {
    for (const auto& phase : json["phases"]) {
      report.phases.push_back({json_field<std::string>(phase, "name", what),
                               json_field<std::int64_t>(phase, "start_ns", what),
                               json_field<std::int64_t>(phase, "end_ns", what)});
    }
  }
  return report;
}

std::string spec_path(const std::string& directory) { return directory + "/spec.json"; }
std::string phase_path(const std::string& directory) { return directory + "/phase"; }
std::string output_path(const std::string& directory, std::size_t point) {
  return fmt::format("{}/output-{}.safetensors", directory, point);
}
std::string again_path(const std::string& output_path) { return output_path + ".again"; }
std::string report_path(const std::string& directory, std::size_t point) {
  return fmt::format("{}/report-{}.json", directory, point);
}

}  // namespace assay::lab
