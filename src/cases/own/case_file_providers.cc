// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/error.h"
#include "cases/own/case_file.h"

namespace assay::cases::own {
namespace {

bool is_provider_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 32 && text[0] != '-' && text[0] != '.' &&
         std::ranges::all_of(text, allowed);
}

// torch.cuda.synchronize
bool is_dotted(std::string_view text) {
  for (;;) {
    const auto dot = text.find('.');
    if (!is_name(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

void read_python(const TomlTable& table, const CaseFile& of, ProviderSpec& provider) {
  provider.kind = ProviderSpec::Kind::kPython;
  provider.python = python_function(table, "python", of);
  if (table.has("setup")) provider.setup = python_function(table, "setup", of);
  if (table.has("synchronise")) {
    provider.synchronise = table.text("synchronise");
    if (!is_dotted(provider.synchronise) || provider.synchronise.find('.') == std::string::npos) {
      table.reject("synchronise", "expected MODULE.FUNCTION, got '{}'", provider.synchronise);
    }
  }
  provider.modules = {"numpy"};  // the worker's inputs are its arrays
  if (table.has("modules")) {
    provider.modules = read_texts(table, "modules");
    for (const auto& module : provider.modules) {
      if (!is_dotted(module)) table.reject("modules", "not the name of a module: '{}'", module);
    }
    if (std::ranges::find(provider.modules, "numpy") == provider.modules.end()) {
      provider.modules.emplace_back("numpy");
    }
  }
}

void read_library(const TomlTable& table, const CaseFile& of, ProviderSpec& provider) {
  provider.kind = ProviderSpec::Kind::kLibrary;
  const auto text = table.text("library");
  if (text.empty() || text.find('\0') != std::string::npos) {
    table.reject("library", "expected the path of a shared library, got '{}'", text);
  }
  // What is there need not be built yet: that is an attempt that leaves a row, not an error.
  provider.library = beside(of, text);
}

ProviderSpec read_provider(const TomlTable& all, const std::string& id, const CaseFile& of) {
  if (!is_provider_name(id)) {
    all.reject(id, "a provider's name has up to 32 letters, digits, '.', '_' or '-'");
  }
  const auto table = all.table(id);
  ProviderSpec provider;
  provider.id = id;
  const int ways = int{table.has("python")} + int{table.has("library")} +
                   int{table.has("command")} + int{table.has("google_benchmark")};
  if (ways != 1) {
    all.reject(id, "expected one of python, library, command and google_benchmark, got {}", ways);
  }
  if (table.has("python")) read_python(table, of, provider);
  if (table.has("library")) read_library(table, of, provider);
  if (table.has("command")) read_command(table, of, provider);
  if (table.has("google_benchmark")) read_benchmark(table, of, provider);
  if (table.has("description")) provider.description = table.text("description");
  if (table.has("unequal_work")) provider.unequal_work = table.text("unequal_work");
  if (table.has("platforms")) {
    provider.platforms = read_texts(table, "platforms");
    for (const auto& platform : provider.platforms) {
      if (platform != "cpu" && platform != "cuda") {
        table.reject("platforms", "unknown platform (cpu, cuda): '{}'", platform);
      }
    }
    if (provider.platforms.empty()) table.reject("platforms", "expected at least one");
  }
  return provider;
}

}  // namespace

void read_providers(const TomlTable& root, CaseFile& into) {
  const auto all = root.table("providers");
  for (const auto& id : all.keys_as_written()) {
    into.providers.push_back(read_provider(all, id, into));
    if (into.providers.size() > kMostTensors)
      all.reject(id, "more than {} providers", kMostTensors);
  }
  if (into.providers.empty()) root.reject("providers", "expected at least one provider");
  for (const auto& provider : into.providers) {
    if (!into.is_of_whole_runs()) break;
    if (provider.kind == ProviderSpec::Kind::kBenchmark) continue;
    if (provider.kind != ProviderSpec::Kind::kCommand) {
      root.reject("outputs", "expected at least one output: provider '{}' is no command",
                  provider.id);
    }
    if (provider.run.check.empty() != into.providers.front().run.check.empty()) {
      root.reject("providers", "all commands have a check or none has: not so '{}'", provider.id);
    }
  }
  into.baseline = into.providers.front().id;
  if (root.has("baseline")) {
    into.baseline = root.text("baseline");
    if (std::ranges::find(into.providers, into.baseline, &ProviderSpec::id) ==
        into.providers.end()) {
      root.reject("baseline", "no provider of that name: '{}'", into.baseline);
    }
  }
}

}  // namespace assay::cases::own
