// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "cases/own/case_file.h"
#include "cases/own/command_words.h"

namespace assay::cases::own {
namespace {

constexpr std::size_t kMostWords = 256, kLongestArgument = 4096;

bool is_provider_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 32 && text[0] != '-' && text[0] != '.' &&
         std::ranges::all_of(text, allowed);
}

std::vector<std::string> texts(const TomlTable& table, std::string_view key) {
  const Json list = table.json(key);
  std::vector<std::string> texts;
  const auto bad = [&] {
    table.reject(key, "expected an array of strings, got {}", canonical_json(list));
  };
  if (!list.is_array()) bad();
  if (list.size() > kMostWords) table.reject(key, "more than {} of them", kMostWords);
  for (const auto& text : list) {
    if (!text.is_string()) bad();
    texts.push_back(text.get<std::string>());
    if (texts.back().size() > kLongestArgument || texts.back().find('\0') != std::string::npos) {
      table.reject(key, "one of them is longer than {} bytes or holds a zero", kLongestArgument);
    }
  }
  return texts;
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
    provider.modules = texts(table, "modules");
    for (const auto& module : provider.modules) {
      if (!is_dotted(module)) table.reject("modules", "not the name of a module: '{}'", module);
    }
    if (std::ranges::find(provider.modules, "numpy") == provider.modules.end()) {
      provider.modules.emplace_back("numpy");
    }
  }
}

// What is there need not be built yet: that is an attempt that leaves a row, not an error.
std::string beside(const CaseFile& of, const std::string& text) {
  return (std::filesystem::path(of.folder()) / text).lexically_normal().string();
}

void read_library(const TomlTable& table, const CaseFile& of, ProviderSpec& provider) {
  provider.kind = ProviderSpec::Kind::kLibrary;
  const auto text = table.text("library");
  if (text.empty() || text.find('\0') != std::string::npos) {
    table.reject("library", "expected the path of a shared library, got '{}'", text);
  }
  provider.library = beside(of, text);
}

void read_command(const TomlTable& table, const CaseFile& of, ProviderSpec& provider) {
  provider.kind = ProviderSpec::Kind::kCommand;
  provider.command = texts(table, "command");
  if (provider.command.empty() || provider.command[0].empty()) {
    table.reject("command", "expected a program and its arguments, got none");
  }
  std::map<std::string, std::string> known;
  for (const auto& parameter : of.parameters) known[parameter.name];
  for (const auto& input : of.problem.inputs) known[input.name];
  for (const auto& output : of.problem.outputs) known[output.name];
  for (const auto& word : provider.command) {
    try {
      with_words_replaced(word, known);
    } catch (const UserError& e) {
      table.reject("command", "{}", e.what());
    }
  }
  for (const auto& output : of.problem.outputs) {
    const auto names_it = [&](const std::string& word) {
      return word.find("{" + output.name + "}") != std::string::npos;
    };
    if (std::ranges::none_of(provider.command, names_it)) {
      table.reject("command", "it is not told where to write output '{0}': {{{0}}}", output.name);
    }
  }
  auto& program = provider.command[0];
  if (program.find('/') != std::string::npos) program = beside(of, program);
}

ProviderSpec read_provider(const TomlTable& all, const std::string& id, const CaseFile& of) {
  if (!is_provider_name(id)) {
    all.reject(id, "a provider's name has up to 32 letters, digits, '.', '_' or '-'");
  }
  const auto table = all.table(id);
  ProviderSpec provider;
  provider.id = id;
  const int ways = int{table.has("python")} + int{table.has("library")} + int{table.has("command")};
  if (ways != 1) all.reject(id, "expected one of python, library and command, got {}", ways);
  if (table.has("python")) read_python(table, of, provider);
  if (table.has("library")) read_library(table, of, provider);
  if (table.has("command")) read_command(table, of, provider);
  if (table.has("description")) provider.description = table.text("description");
  if (table.has("unequal_work")) provider.unequal_work = table.text("unequal_work");
  if (table.has("platforms")) {
    provider.platforms = texts(table, "platforms");
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
