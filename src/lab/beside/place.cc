// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/place.h"

#include <tuple>

#include "base/json_order.h"

namespace assay::lab {
namespace {

std::string problem_of(const Row& row) {
  // With the device's cache swept between calls, the same point is another problem.
  const auto& settings = row.provenance.settings;
  if (settings && settings->is_object() && settings->value("flush_l2", Json()) == true) {
    return "cache swept";
  }
  const auto& identity = row.provenance.identity;
  if (!identity || !identity->is_object()) return {};
  const auto problem = identity->find("problem");
  return problem != identity->end() && problem->is_string() ? problem->get<std::string>() : "";
}

}  // namespace

std::weak_ordering Place::operator<=>(const Place& o) const {
  const auto of_case = std::tie(suite, case_name) <=> std::tie(o.suite, o.case_name);
  if (of_case != 0) return of_case;
  if (const auto of_point = json_order(point, o.point); of_point != 0) return of_point;
  return std::tie(platform, fingerprint, cores, isolation, problem) <=>
         std::tie(o.platform, o.fingerprint, o.cores, o.isolation, o.problem);
}

Place place_of(const Row& row) {
  return {row.suite,
          row.case_name,
          row.point,
          row.platform,
          row.machine.fingerprint,
          row.cores,
          row.provenance.isolation.value_or(""),
          problem_of(row)};
}

std::string device_of(const Row& row) {
  if (row.platform != "cuda") return {};
  const auto& p = row.provenance;
  return p.gpu && p.gpu->uuid && !p.gpu->uuid->empty() ? *p.gpu->uuid : p.device.value_or("");
}

std::weak_ordering SeriesId::operator<=>(const SeriesId& other) const {
  const Place &here = *this, &there = other;
  const auto of_place = here <=> there;
  return of_place != 0 ? of_place : provider <=> other.provider;
}

Json SeriesId::to_json() const {
  Json json = {{"suite", suite},       {"case", case_name},
               {"point", point},       {"provider", provider.empty() ? Json() : Json(provider)},
               {"platform", platform}, {"fingerprint", fingerprint},
               {"cores", cores},       {"isolation", isolation.empty() ? Json() : Json(isolation)}};
  if (!problem.empty()) json["problem"] = problem;
  return json;
}

SeriesId series_of(const Row& row) { return {place_of(row), row.provider}; }

bool made_before(const Row& a, const Row& b) {
  return std::tie(a.run_id, a.order, a.round, a.try_number, a.attempt_id) <
         std::tie(b.run_id, b.order, b.round, b.try_number, b.attempt_id);
}

}  // namespace assay::lab
