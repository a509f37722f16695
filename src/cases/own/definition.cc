// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/definition.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"
#include "base/process.h"

namespace assay::cases::own {
namespace {

constexpr std::string_view kKinds[] = {"python", "library", "command", "google_benchmark"};

Json function_json(const PythonFunction& function) {
  if (function.file.empty()) return nullptr;
  return {{"file", function.file}, {"name", function.name}};
}

PythonFunction function_of(const Json& json, std::string_view what) {
  if (json.is_null()) return {};
  return {json_field<std::string>(json, "file", what), json_field<std::string>(json, "name", what)};
}

// The texts of a command's options by their keys.
template <typename Options, typename Visit>
void each_text(Options& o, const Visit& visit) {
  visit("prepare", o.prepare);
  visit("conclude", o.conclude);
  visit("setup", o.setup);
  visit("cleanup", o.cleanup);
  visit("check", o.check);
  visit("input", o.input);
  visit("output", o.output);
  visit("directory", o.directory);
}

Json options_json(const CommandOptions& options) {
  Json json = {{"shell", options.shell}, {"ignore_failure", options.ignore_failure}};
  each_text(options, [&](const char* key, const std::string& text) { json[key] = text; });
  if (options.warm_up) json["warm_up"] = *options.warm_up;
  return json;
}

CommandOptions options_of_json(const Json& json, std::string_view what) {
  CommandOptions options;
  for (const auto& word : json_field<Json>(json, "shell", what)) {
    options.shell.push_back(word.get<std::string>());
  }
  options.ignore_failure = json_field<bool>(json, "ignore_failure", what);
  each_text(options, [&](const char* key, std::string& text) {
    text = json_field<std::string>(json, key, what);
  });
  if (json.contains("warm_up")) options.warm_up = json_field<std::int64_t>(json, "warm_up", what);
  return options;
}

Json provider_json(const ProviderSpec& provider) {
  return {{"id", provider.id},
          {"kind", kKinds[static_cast<std::size_t>(provider.kind)]},
          {"python", function_json(provider.python)},
          {"setup", function_json(provider.setup)},
          {"synchronise", provider.synchronise},
          {"library", provider.library},
          {"command", provider.command},
          {"benchmark", provider.benchmark},
          {"run", options_json(provider.run)}};
}

ProviderSpec provider_of_json(const Json& json, std::string_view what) {
  ProviderSpec provider;
  provider.id = json_field<std::string>(json, "id", what);
  const auto kind = json_field<std::string>(json, "kind", what);
  const auto found = std::ranges::find(kKinds, kind);
  if (found == std::end(kKinds)) fail("{}: unknown kind of provider: '{}'", what, kind);
  provider.kind = static_cast<ProviderSpec::Kind>(found - std::begin(kKinds));
  provider.python = function_of(json_field<Json>(json, "python", what), what);
  provider.setup = function_of(json_field<Json>(json, "setup", what), what);
  provider.synchronise = json_field<std::string>(json, "synchronise", what);
  provider.library = json_field<std::string>(json, "library", what);
  for (const auto& word : json_field<Json>(json, "command", what)) {
    provider.command.push_back(word.get<std::string>());
  }
  provider.benchmark = json_field<std::string>(json, "benchmark", what);
  provider.run = options_of_json(json_field<Json>(json, "run", what), what);
  return provider;
}

std::string hash_or_nothing(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) ? sha256_file(path) : std::string();
}

}  // namespace

const std::string& program_of(const ProviderSpec& command) {
  return command.run.shell.empty() ? command.command[0] : command.run.shell[0];
}

std::string Definition::folder() const {
  return std::filesystem::path(path).parent_path().string();
}

const ProviderSpec& Definition::provider(std::string_view id) const {
  const auto found = std::ranges::find(providers, id, &ProviderSpec::id);
  if (found == providers.end()) fail("{}: no provider of that name: '{}'", path, id);
  return *found;
}

Json definition_json(const CaseFile& file, const std::string& sha256) {
  Json json = problem_to_json(file.problem);
  json["case_file"] = file.path;
  json["sha256"] = sha256;
  json["sets"] = Json::array({0, 1, 2});
  json["providers"] = Json::array();
  for (const auto& provider : file.providers) json["providers"].push_back(provider_json(provider));
  return json;
}

Definition definition_from_json(const Json& json, std::string_view what) {
  Definition definition;
  definition.path = json_field<std::string>(json, "case_file", what);
  definition.sha256 = json_field<std::string>(json, "sha256", what);
  definition.problem = problem_from_json(json, what);
  for (const auto& provider : json_field<Json>(json, "providers", what)) {
    definition.providers.push_back(provider_of_json(provider, what));
  }
  const auto sets = json_field<Json>(json, "sets", what);
  if (!sets.is_array() || sets.size() != definition.sets.size()) {
    fail("{}: key 'sets' must have three integers", what);
  }
  for (std::size_t i = 0; i < sets.size(); ++i) definition.sets[i] = sets[i].get<int>();
  return definition;
}

std::vector<NamedFile> named_files(const CaseFile& file) {
  std::set<std::string> paths = {file.path};
  const auto add = [&](const std::string& path) {
    if (!path.empty()) paths.insert(path);
  };
  for (const auto& input : file.problem.inputs) add(input.file);
  add(file.oracle.python.file);
  for (const auto& [output, path] : file.oracle.files) add(path);
  for (const auto& provider : file.providers) {
    add(provider.python.file);
    add(provider.setup.file);
    add(provider.library);
    if (!provider.command.empty()) {
      const auto& program = program_of(provider);
      add(find_program(program).value_or(program));
    }
  }
  std::vector<NamedFile> files;
  for (const auto& path : paths) files.push_back({path, hash_or_nothing(path)});
  return files;
}

Json problem_json(const CaseFile& file) {
  Json json = problem_to_json(file.problem);
  for (std::size_t i = 0; i < file.problem.inputs.size(); ++i) {
    // Where a file lies changes nothing, what is in it does.
    if (const auto& path = file.problem.inputs[i].file; !path.empty()) {
      json["inputs"][i]["file"] = hash_or_nothing(path);
    }
  }
  const auto& oracle = file.oracle;
  Json judged = {{"kind", static_cast<int>(oracle.kind)},
                 {"function", oracle.python.name},
                 {"provider", oracle.provider},
                 {"reduction", oracle.reduction ? Json(oracle.reduction->text()) : Json()},
                 {"rtol", oracle.rtol ? Json(*oracle.rtol) : Json()},
                 {"atol", oracle.atol ? Json(*oracle.atol) : Json()}};
  for (const auto& [output, path] : oracle.files) judged["files"][output] = hash_or_nothing(path);
  json["oracle"] = std::move(judged);
  // What a command reads and how it is checked is what tells two cases of whole runs apart.
  if (file.is_of_whole_runs()) {
    std::set<std::pair<std::string, std::string>> runs;
    for (const auto& provider : file.providers)
      runs.emplace(provider.run.input, provider.run.check);
    json["runs"] = runs;
  }
  return json;
}

std::string problem_hash(const CaseFile& file) {
  return short_hash(canonical_json(problem_json(file)));
}

}  // namespace assay::cases::own
