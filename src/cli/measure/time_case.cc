// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/time_case.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "base/toml.h"
#include "cases/own/case_file.h"
#include "cases/own/command_words.h"
#include "cli/measure/time_parameters.h"

namespace assay::cli {
namespace {

constexpr std::size_t kLongestId = 32;

// What a command is called in rows: letters, digits, '.', '_', '-'. Cut names end in a piece of
// their hash, so that long commands that begin alike stay apart.
std::string id_of(const std::string& shown, const std::set<std::string>& taken) {
  std::string id;
  for (const char c : shown) {
    const bool stays = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '.' || c == '_' || c == '-';
    const bool begins_badly = id.empty() && (c == '-' || c == '.');
    const bool repeats = c == '-' && id.ends_with('-');
    if (stays && !begins_badly && !repeats) {
      id += c;
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (id.ends_with('-')) id.pop_back();
  const bool is_fit = !id.empty() && id.size() <= kLongestId;
  if (!is_fit)
    id = id.substr(0, kLongestId - 8) + (id.empty() ? "c" : "-") + short_hash(shown).substr(0, 7);
  auto unique = id;
  for (int i = 2; taken.contains(unique); ++i) {
    const auto tail = fmt::format("-{}", i);
    unique = id.substr(0, kLongestId - tail.size()) + tail;
  }
  return unique;
}

// The text for command `i` of `count`: one for all, or one for each.
const std::string& of_command(const std::vector<std::string>& texts, std::size_t i,
                              std::size_t count, const char* option) {
  static const std::string kNone;
  if (texts.empty()) return kNone;
  if (texts.size() != 1 && texts.size() != count) {
    fail("{}: one for all commands or one for each of {}, got {}", option, count, texts.size());
  }
  return texts.size() == 1 ? texts[0] : texts[i];
}

bool is_integer(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::to_string(value) == text;
}

std::string parameter_lines(const std::vector<Variable>& variables) {
  std::string lines = "[parameters]\n";
  for (const auto& variable : variables) {
    const bool integers = std::ranges::all_of(variable.values, is_integer);
    std::string list;
    for (const auto& value : variable.values) {
      list += (list.empty() ? "" : ", ") + (integers ? value : toml_quoted(value));
    }
    lines += fmt::format("{} = [{}]\n", variable.name, list);
  }
  return lines;
}

// The shell, or nothing where there is none. Throws where it is not there.
std::string shell_of(const TimeArguments& a) {
  if (a.no_shell && !a.shell.empty() && a.shell != "none") {
    fail("-N is --shell none; got --shell '{}' too", a.shell);
  }
  if (a.no_shell || a.shell == "none") return "";
  const auto shell = a.shell.empty() || a.shell == "default" ? "sh" : a.shell;
  const auto program = shell.substr(0, shell.find(' '));
  if (!find_program(program)) fail("--shell: no such program: '{}'", program);
  return shell;
}

class CaseWriter {
 public:
  CaseWriter(const TimeArguments& a, std::string directory)
      : a_(a), directory_(std::move(directory)), shell_(shell_of(a)), variables_(variables_of(a)) {}

  TimedCase write() {
    for (const auto& command : a_.commands) {
      if (command.find_first_not_of(" \t\n") == std::string::npos) fail("a command is empty");
      if (command.find('\0') != std::string::npos) fail("a command holds a zero");
    }
    // The values of one command are what is compared; several commands are compared at each value.
    values_are_points_ = a_.commands.size() > 1 && !variables_.empty();
    const auto choices = values_are_points_ ? std::vector<Values>{{}} : choices_of(variables_);
    if (values_are_points_) choices_of(variables_);  // not too many
    const auto count = a_.commands.size() * choices.size();
    if (count > cases::own::kMostTensors) {
      fail("at most {} commands are compared at a time, got {}", cases::own::kMostTensors, count);
    }
    check_labels(count);
    for (std::size_t i = 0; i < a_.commands.size(); ++i) {
      for (const auto& values : choices) add(i, values, count);
    }
    if (values_are_points_) {
      for (const auto& variable : variables_) made_.point_parameters.push_back(variable.name);
    }
    made_.baseline = made_.commands.front().id;
    if (!a_.baseline.empty()) made_.baseline = baseline();
    made_.toml = fmt::format(
        "# Written by `assay time`. `assay run` measures it again; what its keys mean: assay new.\n"
        "case = {}\nbaseline = {}\n{}{}",
        toml_quoted(a_.case_name), toml_quoted(made_.baseline),
        values_are_points_ ? parameter_lines(variables_) : "", providers_);
    return std::move(made_);
  }

 private:
  void check_labels(std::size_t count) const {
    if (a_.labels.size() > count) {
      fail("--label: {} for {}: '{}' is one too many",
           plural(static_cast<int>(a_.labels.size()), "label"),
           plural(static_cast<int>(count), "command"), a_.labels[count]);
    }
    std::set<std::string> seen;
    for (const auto& label : a_.labels) {
      if (label.empty()) fail("--label: an empty one");
      if (!seen.insert(label).second) fail("--label: the same one twice: '{}'", label);
    }
  }

  std::string baseline() const {
    for (const auto& c : made_.commands) {
      if (c.shown == a_.baseline || c.text == a_.baseline || c.id == a_.baseline) return c.id;
    }
    fail("--baseline: no command is called that: '{}'", a_.baseline);
  }

  void line(const char* key, const std::string& text) {
    if (!text.empty()) providers_ += fmt::format("{} = {}\n", key, toml_quoted(text));
  }
  void hook(const char* key, const std::vector<std::string>& texts, const char* option,
            std::size_t i, const Values& values) {
    const auto& text = of_command(texts, i, a_.commands.size(), option);
    line(key, cases::own::with_known_replaced(text, values));
  }

  void add(std::size_t i, const Values& values, std::size_t count) {
    TimedCommand command;
    command.text = cases::own::with_known_replaced(a_.commands[i], values);
    command.parameters = values;
    const auto at = made_.commands.size();
    command.shown = command.text;
    if (at < a_.labels.size() && (a_.labels.size() > 1 || count == 1 || a_.commands.size() > 1)) {
      command.shown = a_.labels[at];
    } else if (a_.labels.size() == 1 && a_.commands.size() == 1) {  // one label for all values
      command.shown = cases::own::with_known_replaced(a_.labels[0], values);
      if (command.shown == a_.labels[0]) {
        for (const auto& [name, value] : values)
          command.shown += fmt::format(" {}={}", name, value);
      }
    }
    command.id = id_of(command.shown, taken_);
    const bool is_first = std::ranges::find(made_.commands, command.shown, &TimedCommand::shown) ==
                          made_.commands.end();
    command.name = is_first ? command.shown : command.id;
    taken_.insert(command.id);

    providers_ += fmt::format("[providers.{}]\n", toml_quoted(command.id));
    if (shell_.empty()) {
      const auto words = cases::own::words_of(command.text);
      std::string list;
      for (const auto& word : words) list += (list.empty() ? "" : ", ") + toml_quoted(word);
      providers_ += fmt::format("command = [{}]\n", list);
      if (words.front().find('{') == std::string::npos && !find_program(words.front())) {
        fail("no such program: '{}' (a shell's own commands need a shell: without -N)",
             words.front());
      }
    } else {
      line("command", command.text);
      line("shell", shell_);
    }
    line("directory", directory_);
    hook("prepare", a_.prepare, "--prepare", i, values);
    hook("conclude", a_.conclude, "--conclude", i, values);
    hook("setup", a_.setup, "--setup", i, values);
    hook("cleanup", a_.cleanup, "--cleanup", i, values);
    hook("check", a_.checks, "--check", i, values);
    line("input", a_.input);
    line("output", a_.output);
    if (a_.ignore_failure) providers_ += "ignore_failure = true\n";
    providers_ += fmt::format("warm_up = {}\n", a_.warm_up.value_or(0));
    made_.commands.push_back(std::move(command));
  }

  const TimeArguments& a_;
  const std::string directory_, shell_;
  const std::vector<Variable> variables_;
  bool values_are_points_ = false;
  std::set<std::string> taken_;
  std::string providers_;
  TimedCase made_;
};

}  // namespace

TimedCase timed_case(const TimeArguments& arguments, const std::string& directory) {
  return CaseWriter(arguments, directory).write();
}

}  // namespace assay::cli
