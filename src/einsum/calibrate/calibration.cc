// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/calibrate/calibration.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/machine.h"
#include "base/machine_files.h"
#include "einsum/kernels/device_time_model.h"
#include "kernels/blas/blas.h"

namespace assay::einsum {
namespace {

constexpr int kFormat = 2;

// The numbers of a part's model under their names in the file.
struct Field {
  const char* name;
  double PartModel::*value;
};
constexpr Field kFields[] = {{"fixed_s", &PartModel::fixed},
                             {"per_call_s", &PartModel::per_call},
                             {"rate_flop_per_s", &PartModel::rate},
                             {"half_m", &PartModel::half_m},
                             {"half_n", &PartModel::half_n},
                             {"half_k", &PartModel::half_k},
                             {"exposed", &PartModel::exposed},
                             {"bandwidth_b_per_s", &PartModel::bandwidth},
                             {"cache_bandwidth_b_per_s", &PartModel::cache_bandwidth},
                             {"cache_bytes", &PartModel::cache_bytes},
                             {"per_jump_s", &PartModel::per_jump},
                             {"band", &PartModel::band}};

Json model_json(const TimeModel& model) {
  Json parts = Json::object();
  for (const Part part : kParts) {
    for (const bool wide : {false, true}) {
      const auto& p = model.part(part, wide);
      Json one = {{"shapes", p.shapes}};
      for (const auto& field : kFields) one[field.name] = number_to_json(p.*field.value);
      parts[std::string(name_of(part))][wide ? "f64" : "f32"] = one;
    }
  }
  return parts;
}

// The calibration, if it is of this machine, this library and so many threads.
Calibration for_here(Calibration c, const std::string& path, int threads, const std::string& blas) {
  const auto here = read_machine().fingerprint();
  if (c.fingerprint != here) {
    fail("{}: this is the calibration of another machine, {}; this one is {}", path, c.fingerprint,
         here);
  }
  if (c.model.on_device != (threads == 0)) {
    fail("{}: this calibration is of a {}, not of a {}", path,
         c.model.on_device ? "device" : "processor", threads == 0 ? "device" : "processor");
  }
  if (c.threads != threads) {
    fail("{}: this calibration is for {} threads, not {}", path, c.threads, threads);
  }
  if (c.blas != blas) {
    fail("{}: this calibration is of another {}, '{}'; run assay einsum calibrate{}", path,
         threads == 0 ? "device or library" : "BLAS", c.blas, threads == 0 ? " --device cuda" : "");
  }
  return c;
}

std::string file_name(int threads) {
  return threads == 0 ? "einsum-cuda" : fmt::format("einsum-{}", threads);
}

std::optional<Calibration> stored_calibration(int threads, const std::string& blas) {
  const auto fingerprint = read_machine().fingerprint();
  const auto json = load_machine_file(fingerprint, file_name(threads));
  if (!json) return std::nullopt;
  const auto path = machine_file(fingerprint, file_name(threads));
  return for_here(calibration_from_json(*json, path), path, threads, blas);
}

Json to_json(const TransferModel& t) {
  return {{"fixed_s", t.fixed}, {"bandwidth_b_per_s", t.bandwidth}};
}
TransferModel transfer_from_json(const Json& json, const std::string& what) {
  const TransferModel t{json_field<double>(json, "fixed_s", what),
                        json_field<double>(json, "bandwidth_b_per_s", what)};
  if (!(t.fixed >= 0 && t.bandwidth > 0)) fail("{}: a transfer's numbers are not positive", what);
  return t;
}

}  // namespace

Json to_json(const Calibration& c) {
  Json measured = Json::array();
  for (const auto& m : c.measurements) {
    measured.push_back({{"part", name_of(m.part)},
                        {"dtype", m.wide ? "f64" : "f32"},
                        {"shape", m.shape},
                        {"measured_s", m.measured_s},
                        {"predicted_s", m.predicted_s},
                        {"residual", m.predicted_s / m.measured_s - 1}});
  }
  Json json = {{"format", kFormat},    {"fingerprint", c.fingerprint}, {"blas", c.blas},
               {"threads", c.threads}, {"parts", model_json(c.model)}, {"measurements", measured}};
  if (c.model.on_device) {
    json["transfers"] = {{"to_device", to_json(c.model.to_device)},
                         {"from_device", to_json(c.model.from_device)}};
  }
  return json;
}

Calibration calibration_from_json(const Json& json, const std::string& what) {
  if (json_field<std::int64_t>(json, "format", what) != kFormat) {
    fail("{}: a calibration of format {} is expected; run assay einsum calibrate", what, kFormat);
  }
  Calibration c;
  c.fingerprint = json_field<std::string>(json, "fingerprint", what);
  c.blas = json_field<std::string>(json, "blas", what);
  c.threads = static_cast<int>(json_field<std::int64_t>(json, "threads", what));
  const auto parts = json_field<Json>(json, "parts", what);
  for (const Part part : kParts) {
    const auto both = json_field<Json>(parts, name_of(part), what);
    for (const bool wide : {false, true}) {
      const auto one = json_field<Json>(both, wide ? "f64" : "f32", what);
      auto& p = c.model.part(part, wide);
      p.shapes = static_cast<int>(json_field<std::int64_t>(one, "shapes", what));
      for (const auto& field : kFields) {
        p.*field.value = number_from_json(json_field<Json>(one, field.name, what), what);
        if (!(p.*field.value >= 0))
          fail("{}: {} of {} is negative", what, field.name, name_of(part));
      }
    }
  }
  c.model.id = short_hash(canonical_json(parts));
  if (const auto at = json.find("transfers"); at != json.end()) {
    c.model.on_device = true;
    c.model.id = short_hash(canonical_json({parts, *at}));
    c.model.to_device = transfer_from_json(json_field<Json>(*at, "to_device", what), what);
    c.model.from_device = transfer_from_json(json_field<Json>(*at, "from_device", what), what);
  }
  return c;
}

void save_calibration(const std::string& path, const Calibration& calibration) {
  if (const auto slash = path.rfind('/'); slash != std::string::npos && slash > 0) {
    make_directories(path.substr(0, slash));
  }
  write_file_atomically(path, pretty_json(to_json(calibration)) + "\n");
}

Calibration load_calibration(const std::string& path, int threads) {
  return for_here(calibration_from_json(read_json_file(path), path), path, threads,
                  blas::description());
}
Calibration load_device_calibration(const std::string& path, const std::string& device) {
  return for_here(calibration_from_json(read_json_file(path), path), path, 0, device);
}

std::string save_machine_calibration(const Calibration& c) {
  return save_machine_file(c.fingerprint, file_name(c.threads), to_json(c));
}

std::optional<Calibration> load_machine_calibration(int threads) {
  return stored_calibration(threads, blas::description());
}

TimeModel machine_model(int threads) {
  const auto stored = load_machine_calibration(threads);
  return stored ? stored->model : TimeModel();
}

TimeModel device_model(const std::string& device) {
  const auto stored = stored_calibration(0, device);
  return stored ? stored->model : default_device_model();
}

}  // namespace assay::einsum
