// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/run_configs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "base/toml.h"

namespace assay::cli {
namespace {

// Reads a configuration's keys into what would have been typed.
class ConfigReader {
 public:
  explicit ConfigReader(TomlTable table) : table_(std::move(table)) {}

  void read(const char* key, bool& value) const {
    if (table_.has(key)) value = table_.flag(key);
  }
  void read(const char* key, std::optional<int>& value) const {
    if (!table_.has(key)) return;
    const auto number = table_.integer(key);
    if (number < 0 || number > std::numeric_limits<int>::max()) {
      table_.reject(key, "out of range: {}", number);
    }
    value = static_cast<int>(number);
  }
  void read(const char* key, std::optional<std::uint64_t>& value) const {
    if (!table_.has(key)) return;
    const auto number = table_.integer(key);
    if (number < 0) table_.reject(key, "out of range: {}", number);
    value = static_cast<std::uint64_t>(number);
  }
  // As it is typed, "0.5s" or "2%"; a plain number likewise.
  void read(const char* key, std::optional<std::string>& value) const {
    if (!table_.has(key)) return;
    const auto json = table_.json(key);
    if (!json.is_string() && !json.is_number()) {
      table_.reject(key, "expected a string or a number, got {}", canonical_json(json));
    }
    value = json.is_string() ? json.get<std::string>() : canonical_json(json);
  }
  void read(const char* key, std::string& value) const {
    if (table_.has(key)) value = table_.text(key);
  }
  // A word, or a list of them.
  void read(const char* key, std::vector<std::string>& value) const {
    if (!table_.has(key)) return;
    const auto json = table_.json(key);
    value.clear();
    for (const auto& word : json.is_array() ? json : Json::array({json})) {
      if (!word.is_string()) {
        table_.reject(key, "expected a list of strings, got {}", canonical_json(json));
      }
      value.push_back(word.get<std::string>());
    }
  }
  // As typed, or the points themselves.
  void read_points(const char* key, std::string& value) const {
    if (!table_.has(key)) return;
    const auto json = table_.json(key);
    value = json.is_string() ? json.get<std::string>() : canonical_json(json);
  }

 private:
  TomlTable table_;
};

}  // namespace

void read_run_settings(const TomlTable& table, RunArguments& a) {
  const ConfigReader reader(table);
  reader.read("providers", a.providers);
  reader.read("skip", a.skip);
  reader.read("baseline", a.baseline);
  reader.read("platforms", a.platforms);
  reader.read("rounds", a.measure.rounds);
  reader.read("cores", a.measure.cores);
  reader.read("budget", a.measure.budget);
  reader.read("steady", a.measure.steady);
  reader.read("max_steal", a.measure.max_steal);
  reader.read("max_foreign", a.measure.max_foreign);
  reader.read("precision", a.precision);
  reader.read("limit", a.limit);
  reader.read("memory", a.memory);
  reader.read("cpu_slots", a.cpu_slots);
  reader.read("gpus", a.gpus);
  reader.read("settle", a.settle);
  reader.read("tries", a.tries);
  reader.read("seed", a.seed);
  reader.read("in_process", a.in_process);
  reader.read("commit", a.commit);
  if (a.precision && a.measure.rounds) table.reject("precision", "excludes rounds");
}

namespace {

RunArguments read_config(const TomlTable& table) {
  RunArguments a;
  const ConfigReader reader(table);
  reader.read("cases", a.cases);
  reader.read("quick", a.quick);
  reader.read_points("points", a.points);
  reader.read("batches", a.batches);
  reader.read("warm_up", a.warm_up);
  reader.read("flush_l2", a.flush_l2);
  read_run_settings(table, a);
  if (a.cases.empty()) table.reject("cases", "missing key, expected the names of cases");
  return a;
}

template <typename T>
void prefer(T& value, const T& typed) {
  if (typed != T()) value = typed;
}

// What was typed beside the name goes before what the file says.
void apply_typed(RunArguments& a, const RunArguments& typed) {
  a.quick = a.quick || typed.quick;
  a.in_process = a.in_process || typed.in_process;
  a.flush_l2 = a.flush_l2 || typed.flush_l2;
  prefer(a.points, typed.points);
  prefer(a.providers, typed.providers);
  prefer(a.skip, typed.skip);
  prefer(a.baseline, typed.baseline);
  prefer(a.platforms, typed.platforms);
  if (typed.measure.rounds) a.precision.reset();
  if (typed.precision) a.measure.rounds.reset();
  prefer(a.measure.rounds, typed.measure.rounds);
  prefer(a.measure.cores, typed.measure.cores);
  prefer(a.measure.budget, typed.measure.budget);
  prefer(a.measure.steady, typed.measure.steady);
  prefer(a.measure.max_steal, typed.measure.max_steal);
  prefer(a.measure.max_foreign, typed.measure.max_foreign);
  prefer(a.precision, typed.precision);
  prefer(a.batches, typed.batches);
  prefer(a.warm_up, typed.warm_up);
  prefer(a.limit, typed.limit);
  prefer(a.memory, typed.memory);
  prefer(a.cpu_slots, typed.cpu_slots);
  prefer(a.gpus, typed.gpus);
  prefer(a.settle, typed.settle);
  prefer(a.tries, typed.tries);
  prefer(a.seed, typed.seed);
  prefer(a.commit, typed.commit);
  a.config = typed.config;
  a.cluster = typed.cluster;
  a.out = typed.out;
  a.store = typed.store;
  a.trace = typed.trace;
  a.dry_run = typed.dry_run;
  a.all = typed.all;
  a.json = typed.json;
  a.strict = typed.strict;
  a.quiet = typed.quiet;
}

// Those of `names` that typed.cases names.
std::vector<std::string> chosen_configs(const RunArguments& typed,
                                        const std::vector<std::string>& names) {
  const auto listed = fmt::format("{}", fmt::join(names, ", "));
  const bool all = std::ranges::find(typed.cases, "all") != typed.cases.end() ||
                   (typed.cases.empty() && (typed.all || names.size() == 1));
  if (all) return names;
  if (typed.cases.empty()) fail("name configurations of {}, or --all: {}", typed.config, listed);
  std::vector<std::string> chosen;
  for (const auto& name : typed.cases) {
    if (std::ranges::find(names, name) == names.end()) {
      fail("{}: no such configuration (it has {}): '{}'", typed.config, listed, name);
    }
    if (std::ranges::find(chosen, name) == chosen.end()) chosen.push_back(name);
  }
  return chosen;
}

void check_place_of_several(const std::vector<RunArguments>& runs) {
  const auto& out = runs.front().out;
  const bool is_folder = out.empty() || out.ends_with('/') || std::filesystem::is_directory(out);
  if (runs.size() > 1 && !is_folder) {
    fail("several runs need a folder for their journals, not '{}'", out);
  }
}

}  // namespace

std::vector<RunArguments> configured_runs(const RunArguments& typed) {
  if (!typed.resume.empty()) fail("--resume continues one run, and takes no --config");
  if (!typed.label.empty()) fail("--label: a configuration's label is its name");
  const auto file = TomlTable::read(typed.config);
  return runs_of(file, typed, read_config);
}

std::vector<RunArguments> runs_of(const TomlTable& file, const RunArguments& typed,
                                  const ReadConfig& read) {
  const auto configs = file.table("configs");
  const auto names = configs.keys();
  if (names.empty()) configs.reject("configs", "expected a configuration, [configs.NAME]");
  const auto chosen = chosen_configs(typed, names);
  std::vector<RunArguments> runs(chosen.size());
  for (const auto& name : names) {  // also those that are not run: a mistake is told at once
    auto a = read(configs.table(name));
    a.label = name;
    apply_typed(a, typed);
    const auto at = std::ranges::find(chosen, name);
    if (at != chosen.end()) runs[static_cast<std::size_t>(at - chosen.begin())] = std::move(a);
  }
  file.refuse_unread_keys();
  check_place_of_several(runs);
  return runs;
}

}  // namespace assay::cli
