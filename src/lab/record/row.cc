// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/row.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "lab/record/fields.h"
#include "lab/record/quick_json.h"

namespace assay::lab {
namespace {

int int_field(const Json& json, std::string_view key, std::string_view what) {
  const auto value = json_field<std::int64_t>(json, key, what);
  if (value < 0 || value > std::numeric_limits<int>::max()) {
    fail("{}: key '{}' is out of range: {}", what, key, value);
  }
  return static_cast<int>(value);
}

// What SQLite reads out of lines by itself must be what we read: no other type, which would be
// text to it, and no NUL, which would end it.
void check_isolation(const Json& provenance, std::string_view what) {
  const auto it = provenance.find("isolation");
  if (it == provenance.end() || it->is_null()) return;
  const auto isolation = json_field<std::string>(provenance, "isolation", what);
  if (isolation.find('\0') != std::string::npos) {
    fail("{}: key 'isolation' has a NUL character: {}", what, canonical_json(isolation));
  }
}

// Takes the member out of its object.
Json object_field(Json& json, const char* key, std::string_view what, bool nullable) {
  const auto it = json.find(key);
  if (it == json.end()) fail("{}: missing key '{}'", what, key);
  if (!it->is_object() && !(nullable && it->is_null())) {
    fail("{}: key '{}' must be an object{}, got {}", what, key, nullable ? " or null" : "",
         canonical_json(*it).substr(0, 80));
  }
  return std::move(*it);
}

// Values by name, of metrics or of the cost model.
std::map<std::string, double> numbers(const Json& json, std::string_view kind,
                                      std::string_view what) {
  std::map<std::string, double> values;
  for (const auto& [name, value] : json.items()) {
    values[name] = value.is_number()
                       ? value.get<double>()
                       : number_from_json(value, fmt::format("{}: {} '{}'", what, kind, name));
  }
  return values;
}

// What a line ends with: …,"check":"0123abcd"}
constexpr std::string_view kCheckStart = ",\"check\":\"";
constexpr std::string_view kCheckEnd = "\"}";
constexpr std::size_t kCheckDigits = 8;
constexpr std::size_t kTail = kCheckStart.size() + kCheckDigits + kCheckEnd.size();

// Of a row's canonical text, without its closing brace.
std::string check_of(std::string_view unclosed) {
  return fmt::format("{:08x}", crc32c("}", crc32c(unclosed)));
}

}  // namespace

bool left_out_on_purpose(Status status, const std::optional<Failure>& failure) {
  return status == Status::kSkipped && failure &&
         (failure->code == "excluded" || failure->code == "provider_not_applicable");
}

double Row::metric_or_nan(std::string_view name) const {
  const auto it = metrics.find(std::string(name));
  return it == metrics.end() ? std::numeric_limits<double>::quiet_NaN() : it->second;
}

std::optional<double> Row::work_of(const std::string& name) const {
  if (!work) return std::nullopt;
  const auto it = work->find(name);
  return it == work->end() ? std::nullopt : std::optional(it->second);
}

bool Row::as_expected() const {
  return name_of(status) == provenance.expected_status.value_or(std::string(name_of(Status::kOk)));
}

std::string make_attempt_id(std::string_view case_name, const Json& point,
                            std::string_view provider, std::string_view platform, int cores,
                            int round, int try_number) {
  return short_hash(canonical_json(
      Json::array({case_name, point, provider, platform, cores, round, try_number})));
}

Json row_to_json(const Row& row) {
  Json json = row.unknown;
  json.update(Json{{"schema", kRowSchema},
                   {"run_id", row.run_id},
                   {"attempt_id", row.attempt_id},
                   {"suite", row.suite},
                   {"case", row.case_name},
                   {"point", row.point},
                   {"provider", row.provider},
                   {"platform", row.platform},
                   {"machine", to_json(row.machine)},
                   {"cores", row.cores},
                   {"round", row.round},
                   {"try", row.try_number},
                   {"order", row.order},
                   {"status", name_of(row.status)},
                   {"failure", row.failure ? to_json(*row.failure) : Json()},
                   {"metrics", value_to_json(row.metrics)},
                   {"samples", to_json(row.samples)},
                   {"fidelity", row.fidelity ? to_json(*row.fidelity) : Json()},
                   {"work", value_to_json(row.work)},
                   {"provenance", to_json(row.provenance)}});
  return json;
}

Row row_from_json(Json json, std::string_view what) {
  const auto schema = json_field<std::int64_t>(json, "schema", what);
  if (schema != kRowSchema) {
    fail("{}: row schema {} is not the one this program knows ({})", what, schema, kRowSchema);
  }
  Row row;
  row.run_id = json_field<std::string>(json, "run_id", what);
  row.attempt_id = json_field<std::string>(json, "attempt_id", what);
  row.suite = json_field<std::string>(json, "suite", what);
  row.case_name = json_field<std::string>(json, "case", what);
  row.point = object_field(json, "point", what, false);
  row.provider = json_field<std::string>(json, "provider", what);
  row.platform = json_field<std::string>(json, "platform", what);
  row.machine = machine_from_json(object_field(json, "machine", what, false));
  row.cores = int_field(json, "cores", what);
  row.round = int_field(json, "round", what);
  row.try_number = int_field(json, "try", what);
  row.order = int_field(json, "order", what);
  row.status = status_from_name(json_field<std::string>(json, "status", what), what);
  if (Json failure = object_field(json, "failure", what, true); !failure.is_null()) {
    row.failure = failure_from_json(std::move(failure));
  }
  if (!row.failure != (row.status == Status::kOk)) {
    fail("{}: 'failure' must be present exactly when the status is not ok, but the status is '{}'",
         what, name_of(row.status));
  }
  row.metrics = numbers(object_field(json, "metrics", what, false), "metric", what);
  row.samples = samples_from_json(object_field(json, "samples", what, false));
  if (Json fidelity = object_field(json, "fidelity", what, true); !fidelity.is_null()) {
    row.fidelity = fidelity_from_json(std::move(fidelity));
  }
  if (row.status == Status::kOk && row.fidelity && row.fidelity->status == Fidelity::kFail) {
    fail("{}: the status is 'ok', but the output was judged and failed", what);
  }
  if (const Json work = object_field(json, "work", what, true); !work.is_null()) {
    row.work = numbers(work, "work", what);
  }
  auto provenance = object_field(json, "provenance", what, false);
  check_isolation(provenance, what);
  row.provenance = provenance_from_json(std::move(provenance));
  static const Json kKnown = row_to_json(Row{});
  for (auto& [key, value] : json.get_ref<Json::object_t&>()) {
    if (!kKnown.contains(key) && key != "check") row.unknown[key] = std::move(value);
  }
  json.clear();  // in less time than its destructor, which makes a list of all that is in it
  return row;
}

std::string row_to_line(const Row& row) {
  std::string line = canonical_json(row_to_json(row));
  line.pop_back();  // the closing brace
  const auto check = check_of(line);
  line.append(kCheckStart).append(check).append(kCheckEnd);
  return line;
}

bool line_is_untouched(std::string_view line) {
  if (line.size() <= kTail || !line.ends_with(kCheckEnd)) return false;
  const auto tail = line.substr(line.size() - kTail);
  if (!tail.starts_with(kCheckStart)) return false;
  const auto unclosed = line.substr(0, line.size() - kTail);
  return tail.substr(kCheckStart.size(), kCheckDigits) == check_of(unclosed);
}

Row row_from_line(std::string_view line, std::string_view what) {
  if (line.ends_with('\r')) {
    fail("{}: the line ends with a carriage return, which no line was written with", what);
  }
  if (!line_is_untouched(line)) {
    fail("{}: the line is not as it was written: its check does not hold", what);
  }
  auto json = quick_json(line);
  return row_from_json(json ? std::move(*json) : parse_json(line, what), what);
}

}  // namespace assay::lab
