// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "cases/own/case_file.h"
#include "cases/own/command_words.h"

namespace assay::cases::own {
namespace {

constexpr std::size_t kLongestCommand = 64 << 10;
constexpr std::int64_t kMostWarmUps = 10'000;

// A text for a shell, or the name of a file.
std::string command_text(const TomlTable& table, std::string_view key) {
  if (!table.has(key)) return {};
  const auto text = table.text(key);
  if (text.empty() || text.size() > kLongestCommand || text.find('\0') != std::string::npos) {
    table.reject(key, "expected 1 to {} bytes without a zero, got {}", kLongestCommand,
                 text.size());
  }
  return text;
}

// The names that stand for something in a command.
std::map<std::string, std::string> known_names(const CaseFile& of) {
  std::map<std::string, std::string> known;
  for (const auto& parameter : of.parameters) known[parameter.name];
  for (const auto& input : of.problem.inputs) known[input.name];
  for (const auto& output : of.problem.outputs) known[output.name];
  return known;
}

void check_words(const TomlTable& table, const CaseFile& of, const ProviderSpec& provider) {
  const bool is_text = !provider.run.shell.empty();
  const auto known = known_names(of);
  // Braces are a program's own where the file has nothing to put there.
  if (!is_text && !known.empty()) {
    for (const auto& word : provider.command) {
      try {
        with_words_replaced(word, known);
      } catch (const UserError& e) {
        table.reject("command", "{}", e.what());
      }
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
}

// "sh", "none", a path, or a shell with options of its own: "bash --norc".
std::vector<std::string> read_shell(const TomlTable& table, bool is_text) {
  const auto text = table.has("shell") ? command_text(table, "shell") : is_text ? "sh" : "none";
  if (text == "none") {
    if (is_text) {
      table.reject("shell", "without one, a command is a list of words: command = [\"…\", \"…\"]");
    }
    return {};
  }
  if (!is_text) table.reject("shell", "a list of words is run without one: command = \"…\"");
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.empty()) table.reject("shell", "expected a shell, got '{}'", text);
  return words;
}

}  // namespace

void read_command(const TomlTable& table, const CaseFile& of, ProviderSpec& provider) {
  provider.kind = ProviderSpec::Kind::kCommand;
  auto& run = provider.run;
  run.directory = of.folder();
  if (table.has("directory")) run.directory = beside(of, command_text(table, "directory"));
  const bool is_text = table.json("command").is_string();
  if (is_text) {
    provider.command = {command_text(table, "command")};
  } else {
    provider.command = read_texts(table, "command");
  }
  if (provider.command.empty() || provider.command[0].empty()) {
    table.reject("command", "expected a program and its arguments, got none");
  }
  run.shell = read_shell(table, is_text);
  check_words(table, of, provider);
  auto& program = is_text ? run.shell[0] : provider.command[0];
  if (program.find('/') != std::string::npos) {
    program = (std::filesystem::path(run.directory) / program).lexically_normal().string();
  }
  run.prepare = command_text(table, "prepare");
  run.conclude = command_text(table, "conclude");
  run.setup = command_text(table, "setup");
  run.cleanup = command_text(table, "cleanup");
  run.check = command_text(table, "check");
  if (!run.check.empty() && !of.is_of_whole_runs()) {
    table.reject("check", "what judges a case with [outputs] is its oracle");
  }
  run.input = command_text(table, "input");
  if (table.has("output")) run.output = command_text(table, "output");
  if (table.has("ignore_failure")) run.ignore_failure = table.flag("ignore_failure");
  if (table.has("warm_up")) {
    run.warm_up = table.integer("warm_up");
    if (*run.warm_up < 0 || *run.warm_up > kMostWarmUps) {
      table.reject("warm_up", "expected 0 to {}, got {}", kMostWarmUps, *run.warm_up);
    }
  }
}

}  // namespace assay::cases::own
