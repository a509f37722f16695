// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/request.h"

#include <type_traits>

#include "base/error.h"

namespace assay::lab {
namespace {

std::vector<std::string> words(const Json& json, std::string_view key, std::string_view what) {
  std::vector<std::string> list;
  const Json value = json_field<Json>(json, key, what);
  const auto check_type = [&](bool right) {
    if (!right) fail("{}: key '{}' must be a list of strings", what, key);
  };
  check_type(value.is_array());
  for (const auto& word : value) {
    check_type(word.is_string());
    list.push_back(word.get<std::string>());
  }
  return list;
}

// Replaces `value` by the member `key`, if there is one.
template <typename T>
void read(const Json& json, std::string_view key, std::string_view what, T& value) {
  const auto member = json.find(key);
  if (member == json.end()) return;
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    value = words(json, key, what);
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (!member->is_number_unsigned()) fail("{}: key '{}' must be a whole number", what, key);
    value = member->get<std::uint64_t>();
  } else if constexpr (std::is_same_v<T, int>) {
    value = static_cast<int>(json_field<std::int64_t>(json, key, what));
  } else {
    value = json_field<T>(json, key, what);
  }
}

std::string comma_separated(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

}  // namespace

RunRequest default_request(bool quick) {
  RunRequest request;
  if (quick) {
    request.mode = "quick";
    request.rounds = kQuickRounds;
    request.settings.steady_s = kQuickSteadyS;
    request.settings.batches = kQuickBatches;
  }
  return request;
}

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
  if (!json.is_object()) fail("{}: a request must be an object", what);
  RunRequest r = default_request(json.value("mode", Json()) == "quick");
  read(json, "cases", what, r.cases);
  read(json, "mode", what, r.mode);
  read(json, "points", what, r.points);
  read(json, "providers", what, r.providers);
  read(json, "skip", what, r.skip);
  read(json, "platforms", what, r.platforms);
  read(json, "rounds", what, r.rounds);
  if (json.contains("sides")) {
    for (const auto& side : json_field<Json>(json, "sides", what)) {
      r.sides.push_back({json_field<std::string>(side, "label", what),
                         json_field<std::string>(side, "worker", what)});
    }
  }
  read(json, "precision", what, r.precision);
  read(json, "budget_s", what, r.budget_s);
  if (json.contains("settings")) {
    const Json& settings = json["settings"];
    read(settings, "warm_up_calls", what, r.settings.warm_up_calls);
    read(settings, "batches", what, r.settings.batches);
    read(settings, "steady_s", what, r.settings.steady_s);
    read(settings, "batch_min_s", what, r.settings.batch_min_s);
    read(settings, "batch_min_ticks", what, r.settings.batch_min_ticks);
  }
  read(json, "time_limit_s", what, r.time_limit_s);
  read(json, "memory_limit", what, r.memory_limit);
  read(json, "cpu_slots", what, r.cpu_slots);
  read(json, "cores", what, r.cores);
  read(json, "settle_s", what, r.settle_s);
  read(json, "max_steal", what, r.max_steal);
  read(json, "max_tries", what, r.max_tries);
  read(json, "order_seed", what, r.order_seed);
  read(json, "in_process", what, r.in_process);
  read(json, "label", what, r.label);
  return r;
}

std::vector<RunArgument> run_arguments(const RunRequest& r) {
  const bool quick = r.mode == "quick";
  const RunRequest usual = default_request(quick);
  std::vector<RunArgument> arguments;
  for (const auto& name : r.cases) arguments.push_back({"", name});
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) arguments.push_back({option, value});
  };
  const auto number = [&](const char* option, const auto& value, const auto& usually) {
    if (value != usually) add(option, canonical_json(Json(value)));
  };
  if (quick) arguments.push_back({"--quick", ""});
  if (r.mode == "all") add("--points", "all");
  if (r.mode == "points") add("--points", canonical_json(r.points));
  add("--providers", comma_separated(r.providers));
  add("--skip", comma_separated(r.skip));
  if (r.platforms != usual.platforms) add("--platforms", comma_separated(r.platforms));
  if (r.precision > 0) {
    number("--precision", r.precision, usual.precision);
  } else {
    number("--rounds", r.rounds, usual.rounds);
  }
  number("--budget", r.budget_s, usual.budget_s);
  number("--steady", r.settings.steady_s, usual.settings.steady_s);
  number("--batches", r.settings.batches, usual.settings.batches);
  number("--warm-up", r.settings.warm_up_calls, usual.settings.warm_up_calls);
  number("--limit", r.time_limit_s, usual.time_limit_s);
  number("--memory", r.memory_limit, usual.memory_limit);
  number("--cpu-slots", r.cpu_slots, usual.cpu_slots);
  number("--cores", r.cores, usual.cores);
  number("--settle", r.settle_s, usual.settle_s);
  number("--max-steal", r.max_steal, usual.max_steal);
  number("--tries", r.max_tries, usual.max_tries);
  number("--seed", r.order_seed, usual.order_seed);
  if (r.in_process) arguments.push_back({"--in-process", ""});
  add("--label", r.label);
  return arguments;
}

}  // namespace assay::lab
