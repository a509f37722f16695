// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// nvbench's JSON (--json, --jsonbin). One row for each state: all its samples are of one process on
// one device. Samples are GPU times of cold launches, little-endian floats in a file beside the
// JSON; without that file, nvbench's own median, or else its mean, is taken, and the row says
// which.

#include <bit>
#include <cstring>

#include "base/error.h"
#include "lab/show/exchange/import.h"
#include "lab/show/exchange/json_path.h"

namespace assay::lab {
namespace {

static_assert(std::endian::native == std::endian::little, "samples are read as they lie");

// nvbench writes numbers as text beside their type.
Json typed_value(const Json& entry, std::string_view what) {
  const auto type = json_field<std::string>(entry, "type", what);
  const Json value = entry.contains("value") ? entry["value"] : Json();
  if (!value.is_string() || type == "string" || type == "type") return value;
  const auto text = value.get<std::string>();
  try {
    std::size_t used = 0;
    const Json number =
        type == "int64" ? Json(std::stoll(text, &used)) : Json(std::stod(text, &used));
    if (used == text.size()) return number;
  } catch (const std::exception&) {
  }
  fail("{}: not a number of type {}: '{}'", what, type, text);
}

// The summaries of a state as tag → name → value.
std::map<std::string, std::map<std::string, Json>> summaries_of(const Json& state,
                                                                std::string_view what) {
  std::map<std::string, std::map<std::string, Json>> result;
  if (!state.contains("summaries") || !state["summaries"].is_array()) return result;
  for (const auto& summary : state["summaries"]) {
    const auto tag = json_field<std::string>(summary, "tag", what);
    const Json& data = member(summary, "data", what);
    for (const auto& entry : data) {
      result[tag][json_field<std::string>(entry, "name", what)] = typed_value(entry, what);
    }
  }
  return result;
}

std::vector<double> read_samples(const std::map<std::string, Json>& about, std::string_view what,
                                 const Sidecar& sidecar) {
  const auto name = about.find("filename"), size = about.find("size");
  if (name == about.end() || !name->second.is_string() || !sidecar) return {};
  const auto bytes = sidecar(name->second.get<std::string>());
  if (!bytes) return {};
  const bool complete = size != about.end() && size->second.is_number_integer() &&
                        size->second >= 0 &&
                        bytes->size() == sizeof(float) * size->second.get<std::size_t>();
  if (!complete) {
    fail("{}: the samples beside it are not as many as it says: '{}'", what,
         name->second.get<std::string>());
  }
  std::vector<float> values(bytes->size() / sizeof(float));
  std::memcpy(values.data(), bytes->data(), bytes->size());
  return {values.begin(), values.end()};
}

ImportedAttempt read_state(const Json& bench, const Json& state, std::string_view what,
                           const Sidecar& sidecar) {
  ImportedAttempt attempt;
  attempt.benchmark = json_field<std::string>(bench, "name", what);
  if (state.contains("axis_values") && state["axis_values"].is_array()) {
    for (const auto& axis : state["axis_values"]) {
      attempt.point[json_field<std::string>(axis, "name", what)] = typed_value(axis, what);
    }
  }
  if (state.contains("device")) attempt.details["device"] = state["device"];
  if (state.contains("name")) attempt.details["state"] = state["name"];
  if (state.value("is_skipped", false)) {
    attempt.status = Status::kSkipped;
    attempt.failure = Failure{"steady", "skipped_by_benchmark",
                              text_at(state, "skip_reason").value_or("no reason given")};
    return attempt;
  }
  auto summaries = summaries_of(state, what);
  const auto figure = [&](const std::string& tag) -> std::optional<double> {
    const auto it = summaries.find(tag);
    if (it == summaries.end() || !it->second["value"].is_number()) return std::nullopt;
    return it->second["value"].get<double>();
  };
  attempt.samples_s = read_samples(summaries["nv/json/bin:nv/cold/sample_times"], what, sidecar);
  attempt.batch_calls = 1;
  if (attempt.samples_s.empty()) {
    attempt.steady_time_is = "median";
    attempt.steady_time_s = figure("nv/cold/time/gpu/median");
    if (!attempt.steady_time_s) {
      attempt.steady_time_is = "mean";
      attempt.steady_time_s = figure("nv/cold/time/gpu/mean");
    }
    if (!attempt.steady_time_s) fail("{}: '{}' has no GPU time", what, attempt.benchmark);
    const auto least = figure("nv/cold/time/gpu/min"), samples = figure("nv/cold/sample_size");
    if (least) attempt.metrics["steady_time_min"] = *least;
    if (samples) attempt.metrics["steady_time_n"] = *samples;
  }
  if (const auto rate = figure("nv/cold/bw/global/bytes_per_second")) {
    attempt.metrics["bandwidth"] = *rate;
  }
  for (const char* tag :
       {"nv/cold/time/cpu/mean", "nv/cold/time/gpu/stdev/relative", "nv/batch/time/gpu/mean"}) {
    if (const auto value = figure(tag)) attempt.details[tag] = *value;
  }
  return attempt;
}

}  // namespace

ImportedFile read_nvbench(const Json& json, std::string_view what, const Sidecar& sidecar) {
  const Json& devices = member(json, "devices", what);
  const Json& benchmarks = member(json, "benchmarks", what);
  if (!devices.is_array() || !benchmarks.is_array()) {
    fail("{}: not an nvbench file: 'devices' or 'benchmarks' is no list", what);
  }
  ImportedFile file;
  file.tool = "nvbench";
  file.platform = "cuda";
  file.isolation = "in-process";
  file.provider = "nvbench";
  if (const auto argv = value_at(json, "meta/argv");
      argv.is_array() && !argv.empty() && argv[0].is_string()) {
    const auto path = argv[0].get<std::string>();
    const auto name = path.substr(path.find_last_of('/') + 1);
    if (!name.empty()) file.provider = name;
  }
  file.version = text_at(json, "meta/version/nvbench/string").value_or("");
  Json names = Json::array();
  for (const auto& device : devices) {
    names.push_back(json_field<std::string>(device, "name", what));
    Json hardware = Json::object();
    for (const char* key : {"name", "sm_version", "number_of_sms", "global_memory_size"}) {
      if (device.contains(key)) hardware[key] = device[key];
    }
    file.hardware["devices"].push_back(std::move(hardware));
  }
  file.host["gpus"] = names;
  file.host["reported"] = devices;
  for (const auto& bench : benchmarks) {
    const Json& states = member(bench, "states", what);
    if (states.is_null()) continue;  // no state was selected
    if (!states.is_array()) fail("{}: the 'states' of a benchmark are no list", what);
    for (const auto& state : states) {
      auto attempt = read_state(bench, state, what, sidecar);
      // Two devices at one point are two points, never two rounds.
      if (devices.size() > 1) attempt.point["device"] = attempt.details["device"];
      file.attempts.push_back(std::move(attempt));
    }
  }
  return file;
}

}  // namespace assay::lab
