// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/calibration.h"

#include <cmath>

#include "base/error.h"
#include "base/machine_files.h"
#include "lab/record/fields.h"

namespace assay::lab {
namespace {

constexpr std::string_view kCalibrationFile = "calibration";  // among the machine's files

Json share_to_json(const Calibration::Share& s) {
  return {
      {"count", s.count}, {"trials", s.trials}, {"rate", s.rate}, {"low", s.low}, {"high", s.high}};
}

int count_at(const Json& json, std::string_view key, std::string_view what) {
  const auto value = json_field<std::int64_t>(json, key, what);
  if (value < 0 || value > 1 << 30) fail("{}: '{}' is not a count: {}", what, key, value);
  return static_cast<int>(value);
}

double number_at(const Json& json, std::string_view key, std::string_view what) {
  const double value = json_field<double>(json, key, what);
  if (!std::isfinite(value) || value < 0) {
    fail("{}: '{}' must be finite and not negative, got {}", what, key, value);
  }
  return value;
}

Calibration::Share share_from_json(const Json& json, std::string_view key, std::string_view what) {
  const auto from = json_field<Json>(json, key, what);
  return {count_at(from, "count", what), count_at(from, "trials", what),
          number_at(from, "rate", what), number_at(from, "low", what),
          number_at(from, "high", what)};
}

std::optional<double> optional_at(const Json& json, const char* key, std::string_view what) {
  if (!json.contains(key) || json[key].is_null()) return std::nullopt;
  return number_at(json, key, what);
}

}  // namespace

Json Calibration::to_json() const {
  Json noises = Json::array();
  for (const auto& n : noise) {
    noises.push_back({{"kernel", n.kernel},
                      {"within_process", value_to_json(n.within_process)},
                      {"between_processes", value_to_json(n.between_processes)},
                      {"between_runs", value_to_json(n.between_runs)},
                      {"two_heaps", n.bimodal}});
  }
  return {{"measured", measured},
          {"kernels", kernels},
          {"comparisons", comparisons},
          {"rounds", rounds},
          {"floor", floor},
          {"largest", largest},
          {"sigma_d", sigma_d},
          {"tolerance", tolerance},
          {"false_alarms", share_to_json(false_alarms)},
          {"unresolved", share_to_json(unresolved)},
          {"excludes_one", share_to_json(excludes_one)},
          {"noise", noises},
          {"load", load},
          {"settings", settings}};
}

Calibration Calibration::from_json(const Json& json, std::string_view what) {
  if (!json.is_object()) fail("{}: a calibration is an object", what);
  Calibration c;
  c.measured = json_field<std::string>(json, "measured", what);
  for (const auto& kernel : json_field<Json>(json, "kernels", what)) {
    if (!kernel.is_string()) fail("{}: 'kernels' must be a list of text", what);
    c.kernels.push_back(kernel.get<std::string>());
  }
  c.comparisons = count_at(json, "comparisons", what);
  if (c.comparisons < 1)
    fail("{}: a calibration rests on comparisons, got {}", what, c.comparisons);
  c.rounds = count_at(json, "rounds", what);
  c.floor = number_at(json, "floor", what);
  c.largest = number_at(json, "largest", what);
  c.sigma_d = number_at(json, "sigma_d", what);
  c.tolerance = number_at(json, "tolerance", what);
  c.false_alarms = share_from_json(json, "false_alarms", what);
  c.unresolved = share_from_json(json, "unresolved", what);
  c.excludes_one = share_from_json(json, "excludes_one", what);
  for (const auto& n : json_field<Json>(json, "noise", what)) {
    c.noise.push_back({json_field<std::string>(n, "kernel", what),
                       optional_at(n, "within_process", what),
                       optional_at(n, "between_processes", what),
                       optional_at(n, "between_runs", what), count_at(n, "two_heaps", what)});
  }
  c.load = number_at(json, "load", what);
  c.settings = json_field<Json>(json, "settings", what);
  return c;
}

CalibrationRecord Calibration::record() const {
  CalibrationRecord record;
  record.measured = measured;
  record.comparisons = comparisons;
  record.floor = floor;
  return record;
}

std::optional<Calibration> load_calibration(std::string_view fingerprint) {
  const auto json = load_machine_file(fingerprint, kCalibrationFile);
  if (!json) return std::nullopt;
  return Calibration::from_json(*json, machine_file(fingerprint, kCalibrationFile));
}

std::string save_calibration(std::string_view fingerprint, const Calibration& calibration) {
  return save_machine_file(fingerprint, kCalibrationFile, calibration.to_json());
}

}  // namespace assay::lab
