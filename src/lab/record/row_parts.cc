// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/row_parts.h"

#include "base/error.h"
#include "lab/record/fields.h"
#include "lab/record/request.h"

namespace assay::lab {

void Failure::fields(auto& self, auto&& field) {
  field("phase", self.phase);
  field("code", self.code);
  field("message", self.message);
  field.or_null("signal", self.signal);
  field.or_null("exit_code", self.exit_code);
  field("stderr_tail", self.stderr_tail);
}

void MachineFacts::fields(auto& self, auto&& field) {
  field("fingerprint", self.fingerprint);
  field("cpu_model", self.cpu_model);
  field("os", self.os);
  field("kernel", self.kernel);
  field("governor", self.governor);
  field("sockets", self.sockets);
  field("cores", self.cores);
  field("memory_bytes", self.memory_bytes);
  field("gpus", self.gpus);
  field("fingerprint_from", self.fingerprint_from);
}

void Fidelity::Checked::fields(auto& self, auto&& field) {
  field("elements", self.elements);
  field("rows", self.rows);
  field("sampled", self.sampled);
  field.or_null("seed", self.seed);
}

void Fidelity::fields(auto& self, auto&& field) {
  field("status", self.status);
  field.or_null("error", self.error);
  field.or_null("max_abs", self.max_abs);
  field.or_null("max_rel", self.max_rel);
  field.or_null("ulp_p50", self.ulp_p50);
  field.or_null("ulp_max", self.ulp_max);
  field.or_null("nan_count", self.nan_count);
  field.or_null("checked", self.checked);
  field.or_null("rtol", self.rtol);
  field.or_null("atol", self.atol);
  field.or_null("oracle", self.oracle);
}

void NoiseRecord::Moment::fields(auto& self, auto&& field) { field("load", self.load); }

void NoiseRecord::fields(auto& self, auto&& field) {
  field("before", self.before);
  field("after", self.after);
  field("steal_fraction", self.steal_fraction);
  field("foreign_fraction", self.foreign_fraction);
}

void StopRecord::fields(auto& self, auto&& field) {
  field("rounds", self.rounds);
  field("decision", self.decision);
  field.or_null("target", self.target);
  field("precision", self.precision);
  field.or_null("worst", self.worst);
}

void CalibrationRecord::fields(auto& self, auto&& field) {
  field("measured", self.measured);
  field("comparisons", self.comparisons);
  field("floor", self.floor);
}

void GpuRecord::fields(auto& self, auto&& field) {
  field("uuid", self.uuid);
  field("name", self.name);
  field("driver", self.driver);
  field("clock_mhz_min", self.clock_mhz_min);
  field("clock_mhz_max", self.clock_mhz_max);
  field("memory_clock_mhz", self.memory_clock_mhz);
  field("temperature_c_max", self.temperature_c_max);
  field("power_w", self.power_w);
  field("looks", self.looks);
  field("throttled", self.throttled);
  field("memory_bytes_max", self.memory_bytes_max);
  field("strangers", self.strangers);
}

void LimitRecord::fields(auto& self, auto&& field) {
  field("seconds", self.seconds);
  field("ceiling", self.ceiling);
  field("is_bound", self.is_bound);
  field("measured", self.measured);
}

void SideRecord::fields(auto& self, auto&& field) {
  field("label", self.label);
  field.or_null("worker_sha256", self.worker_sha256);
  field("case_file_sha256", self.case_file_sha256);
}

void ImportRecord::fields(auto& self, auto&& field) {
  field("tool", self.tool);
  field("file", self.file);
  field("file_sha256", self.file_sha256);
  field("benchmark", self.benchmark);
  field("time_from", self.time_from);
  field("details", self.details);
  field("steady_time_is", self.steady_time_is);
}

void Provenance::fields(auto& self, auto&& field) {
  field("time_start", self.time_start);
  field("time_end", self.time_end);
  field("start_ns", self.start_ns);
  field("end_ns", self.end_ns);
  field("duration_s", self.duration_s);
  field("assay_version", self.assay_version);
  field("commit", self.commit);
  field("branch", self.branch);
  field("binary_sha256", self.binary_sha256);
  field("compiler", self.compiler);
  field("flags", self.flags);
  field("dirty", self.dirty);
  field("tree_commit", self.tree_commit);
  field("versions", self.versions);
  field("environment", self.environment);
  field("label", self.label);
  field("mode", self.mode);
  field("order_seed", self.order_seed);
  field("settings", self.settings);
  field("request", self.request);
  field("isolation", self.isolation);
  field("interleaved", self.interleaved);
  field("baseline", self.baseline);
  field("primary_metric", self.primary_metric);
  field.or_null("unequal_work", self.unequal_work);
  field("expected_status", self.expected_status);
  field("origin", self.origin);
  field("identity", self.identity);
  field("side", self.side);
  field("cpus", self.cpus);
  field.or_null("device", self.device);
  field("contaminated", self.contaminated);
  field("orphans_killed", self.orphans_killed);
  field("phases_s", self.phases_s);
  field("noise", self.noise);
  field("gpu", self.gpu);
  field("stopping", self.stopping);
  field("calibration", self.calibration);
  field("limit", self.limit);
  field("import", self.import);
}

std::optional<double> Provenance::load_before() const {
  return noise && noise->before ? noise->before->load : std::nullopt;
}

std::optional<double> Provenance::steal_fraction() const {
  return noise ? noise->steal_fraction : std::nullopt;
}

std::optional<double> Provenance::foreign_fraction() const {
  return noise ? noise->foreign_fraction : std::nullopt;
}

std::optional<double> Provenance::calibration_floor() const {
  return calibration ? calibration->floor : std::nullopt;
}

std::optional<RunRequest> Provenance::asked() const {
  if (!request || !request->is_object()) return std::nullopt;
  try {
    return request_from_json(*request, "request");
  } catch (const UserError&) {
    return std::nullopt;
  }
}

const std::vector<double>& Samples::operator[](const std::string& name) const {
  static const std::vector<double> kNone;
  const auto found = lists.find(name);
  return found == lists.end() ? kNone : found->second;
}

Json to_json(const Samples& samples) {
  Json json = samples.rest;
  for (const auto& [name, values] : samples.lists) json[name] = value_to_json(values);
  if (samples.batch_calls) json["batch_calls"] = *samples.batch_calls;
  return json;
}

Samples samples_from_json(Json json) {
  Samples samples;
  for (auto& [name, value] : json.get_ref<Json::object_t&>()) {
    std::vector<double> list;
    std::int64_t calls = 0;
    if (take_value(value, list)) {
      samples.lists.emplace(name, std::move(list));
    } else if (name == "batch_calls" && take_value(value, calls)) {
      samples.batch_calls = calls;
    } else {
      samples.rest[name] = std::move(value);
    }
  }
  return samples;
}

Json to_json(const Failure& failure) { return fields_to_json(failure); }
Json to_json(const MachineFacts& machine) { return fields_to_json(machine); }
Json to_json(const Fidelity& fidelity) { return fields_to_json(fidelity); }
Json to_json(const StopRecord& stopping) { return fields_to_json(stopping); }
Json to_json(const Provenance& provenance) { return fields_to_json(provenance); }

Failure failure_from_json(Json json) { return take_fields<Failure>(std::move(json)); }
MachineFacts machine_from_json(Json json) { return take_fields<MachineFacts>(std::move(json)); }
Fidelity fidelity_from_json(Json json) { return take_fields<Fidelity>(std::move(json)); }
NoiseRecord::Moment moment_from_json(Json json) {
  return take_fields<NoiseRecord::Moment>(std::move(json));
}
Provenance provenance_from_json(Json json) { return take_fields<Provenance>(std::move(json)); }

}  // namespace assay::lab
