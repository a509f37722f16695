// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/request.h"

#include <fmt/ranges.h>

#include <algorithm>
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

std::map<std::string, std::string> texts_by_name(const Json& json, std::string_view key,
                                                 std::string_view what) {
  std::map<std::string, std::string> texts;
  const Json object = json_field<Json>(json, key, what);
  if (!object.is_object()) fail("{}: key '{}' must be an object of strings", what, key);
  for (const auto& [name, text] : object.items()) {
    texts[name] = json_field<std::string>(object, name, what);
  }
  return texts;
}

RequestedFile requested_file(const Json& json, std::string_view what) {
  return {json_field<std::string>(json, "case", what), json_field<std::string>(json, "path", what),
          texts_by_name(json, "sha256", what)};
}

Json requested_file_json(const RequestedFile& file) {
  return {{"case", file.case_name}, {"path", file.path}, {"sha256", file.sha256}};
}

// Replaces `value` by the member `key`, if there is one.
template <typename T>
void read(const Json& json, std::string_view key, std::string_view what, T& value) {
  const auto member = json.find(key);
  if (member == json.end()) return;
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    value = words(json, key, what);
  } else if constexpr (std::is_same_v<T, std::vector<RunSide>>) {
    for (const auto& side : json_field<Json>(json, key, what)) {
      value.push_back({json_field<std::string>(side, "label", what),
                       json_field<std::string>(side, "worker", what),
                       {},
                       false});
      read(side, "commit", what, value.back().commit);
      read(side, "dirty", what, value.back().dirty);
      if (const auto file = side.find("case_file"); file != side.end()) {
        value.back().case_file = requested_file(*file, what);
      }
    }
  } else if constexpr (std::is_same_v<T, std::vector<RequestedFile>>) {
    for (const auto& file : json_field<Json>(json, key, what)) {
      value.push_back(requested_file(file, what));
    }
  } else if constexpr (std::is_same_v<T, MeasureSettings>) {
    each_setting(value, [&](const char* name, auto& of) { read(*member, name, what, of); });
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (!member->is_number_unsigned()) fail("{}: key '{}' must be a whole number", what, key);
    value = member->get<std::uint64_t>();
  } else if constexpr (std::is_same_v<T, int>) {
    value = static_cast<int>(json_field<std::int64_t>(json, key, what));
  } else {
    value = json_field<T>(json, key, what);
  }
}

// Every member of a request by its name in JSON, for both directions.
template <typename Request, typename Visit>
void each_member(Request& r, const Visit& visit) {
  visit("cases", r.cases);
  visit("case_files", r.case_files);
  visit("mode", r.mode);
  visit("points", r.points);
  visit("providers", r.providers);
  visit("skip", r.skip);
  visit("baseline", r.baseline);
  visit("platforms", r.platforms);
  visit("sides", r.sides);
  visit("rounds", r.rounds);
  visit("precision", r.precision);
  visit("budget_s", r.budget_s);
  visit("settings", r.settings);
  visit("time_limit_s", r.time_limit_s);
  visit("memory_limit", r.memory_limit);
  visit("cpu_slots", r.cpu_slots);
  visit("gpus", r.gpus);
  visit("cores", r.cores);
  visit("settle_s", r.settle_s);
  visit("max_steal", r.max_steal);
  visit("max_foreign", r.max_foreign);
  visit("max_tries", r.max_tries);
  visit("order_seed", r.order_seed);
  visit("in_process", r.in_process);
  visit("label", r.label);
  visit("commit", r.commit);
}

std::string comma_separated(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ","));
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

Json request_to_json(const RunRequest& request) {
  Json json = Json::object();
  each_member(request, [&]<typename T>(const char* key, const T& value) {
    if constexpr (std::is_same_v<T, MeasureSettings>) {
      json[key] = settings_to_json(value);
    } else if constexpr (std::is_same_v<T, std::vector<RunSide>>) {
      json[key] = Json::array();
      for (const auto& side : value) {
        json[key].push_back({{"label", side.label},
                             {"worker", side.worker},
                             {"commit", side.commit},
                             {"dirty", side.dirty}});
        if (side.case_file) json[key].back()["case_file"] = requested_file_json(*side.case_file);
      }
    } else if constexpr (std::is_same_v<T, std::vector<RequestedFile>>) {
      for (const auto& file : value) {
        json[key].push_back(requested_file_json(file));
      }
    } else {
      json[key] = value;
    }
  });
  return json;
}

RunRequest request_from_json(const Json& json, std::string_view what) {
  if (!json.is_object()) fail("{}: a request must be an object", what);
  RunRequest request = default_request(json.value("mode", Json()) == "quick");
  each_member(request, [&](const char* key, auto& value) { read(json, key, what, value); });
  return request;
}

std::vector<RunArgument> run_arguments(const RunRequest& r) {
  const bool quick = r.mode == "quick";
  const RunRequest usual = default_request(quick);
  std::vector<RunArgument> arguments;
  for (const auto& name : r.cases) {
    const auto file = std::ranges::find(r.case_files, name, &RequestedFile::case_name);
    arguments.push_back({"", file == r.case_files.end() ? name : file->path});
  }
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
  add("--baseline", r.baseline);
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
  if (r.settings.flush_l2) arguments.push_back({"--flush-l2", ""});
  number("--limit", r.time_limit_s, usual.time_limit_s);
  number("--memory", r.memory_limit, usual.memory_limit);
  number("--cpu-slots", r.cpu_slots, usual.cpu_slots);
  number("--gpus", r.gpus, usual.gpus);
  number("--cores", r.cores, usual.cores);
  number("--settle", r.settle_s, usual.settle_s);
  number("--max-steal", r.max_steal, usual.max_steal);
  number("--max-foreign", r.max_foreign, usual.max_foreign);
  number("--tries", r.max_tries, usual.max_tries);
  number("--seed", r.order_seed, usual.order_seed);
  if (r.in_process) arguments.push_back({"--in-process", ""});
  add("--label", r.label);
  add("--commit", r.commit);
  return arguments;
}

}  // namespace assay::lab
