// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/request.h"

#include "base/error.h"

namespace assay::lab {
namespace {

std::vector<std::string> words(const Json& json, std::string_view key, std::string_view what) {
  std::vector<std::string> list;
  for (const auto& word : json_field<Json>(json, key, what)) {
    if (!word.is_string()) fail("{}: key '{}' must be a list of strings", what, key);
    list.push_back(word.get<std::string>());
  }
  return list;
}

}  // namespace

Json request_to_json(const RunRequest& r) {
  Json sides = Json::array();
  for (const auto& side : r.sides) {
    sides.push_back(Json{{"label", side.label}, {"worker", side.worker}});
  }
  return {{"cases", r.cases},
          {"mode", r.mode},
          {"points", r.points},
          {"providers", r.providers},
          {"skip", r.skip},
          {"platforms", r.platforms},
          {"sides", sides},
          {"rounds", r.rounds},
          {"precision", r.precision},
          {"budget_s", r.budget_s},
          {"settings", settings_to_json(r.settings)},
          {"time_limit_s", r.time_limit_s},
          {"memory_limit", r.memory_limit},
          {"cpu_slots", r.cpu_slots},
          {"cores", r.cores},
          {"settle_s", r.settle_s},
          {"max_steal", r.max_steal},
          {"max_tries", r.max_tries},
          {"order_seed", r.order_seed},
          {"in_process", r.in_process},
          {"label", r.label}};
}

RunRequest request_from_json(const Json& json, std::string_view what) {
  const auto integer = [&](std::string_view key) {
    return static_cast<int>(json_field<std::int64_t>(json, key, what));
  };
  RunRequest r;
  r.cases = words(json, "cases", what);
  r.mode = json_field<std::string>(json, "mode", what);
  r.points = json_field<Json>(json, "points", what);
  r.providers = words(json, "providers", what);
  r.skip = words(json, "skip", what);
  r.platforms = words(json, "platforms", what);
  r.rounds = integer("rounds");
  // Requests of earlier versions do not have these.
  if (json.contains("sides")) {
    for (const auto& side : json_field<Json>(json, "sides", what)) {
      r.sides.push_back({json_field<std::string>(side, "label", what),
                         json_field<std::string>(side, "worker", what)});
    }
  }
  if (json.contains("precision")) r.precision = json_field<double>(json, "precision", what);
  if (json.contains("budget_s")) r.budget_s = json_field<double>(json, "budget_s", what);
  r.settings = settings_from_json(json_field<Json>(json, "settings", what), what);
  r.time_limit_s = json_field<double>(json, "time_limit_s", what);
  r.memory_limit = static_cast<std::uint64_t>(json_field<std::int64_t>(json, "memory_limit", what));
  r.cpu_slots = integer("cpu_slots");
  r.cores = integer("cores");
  r.settle_s = json_field<double>(json, "settle_s", what);
  r.max_steal = json_field<double>(json, "max_steal", what);
  r.max_tries = integer("max_tries");
  r.order_seed = static_cast<std::uint64_t>(json_field<std::int64_t>(json, "order_seed", what));
  r.in_process = json_field<bool>(json, "in_process", what);
  r.label = json_field<std::string>(json, "label", what);
  return r;
}

}  // namespace assay::lab
