// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/slurm_command.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"

namespace assay::lab {
namespace {

// Slurm's commands wait for an answer some ten seconds, and try again.
constexpr double kPatienceS = 120;

// Variables that would have a command answer something else than it was asked: filters and formats
// that people set for their own eyes. Where jobs go by default (SBATCH_PARTITION) is left to them.
std::vector<std::string> variables_against(const std::string& command) {
  std::vector<std::string> names;
  if (command == "sbatch") {
    names = {"SBATCH_ARRAY_INX", "SBATCH_WAIT", "SBATCH_WAIT_ALL_NODES"};
  } else {
    std::string prefix;
    for (const char c : command) prefix += static_cast<char>(c - 'a' + 'A');
    prefix += '_';
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string_view text = *variable;
      if (text.starts_with(prefix)) names.emplace_back(text.substr(0, text.find('=')));
    }
  }
  return names;
}

}  // namespace

ProcessResult slurm_command(const std::vector<std::string>& words, const std::atomic<bool>* stop) {
  ProcessSpec spec;
  const auto names = variables_against(words.front());
  if (!names.empty()) spec.argv = {"env"};
  for (const auto& name : names) spec.argv.push_back("--unset=" + name);
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  spec.time_limit_s = kPatienceS;
  spec.stdout_limit = 256 << 20;  // of hundreds of thousands of tasks
  // A job has the environment of whoever submits it, and Slurm keeps it: a store is our affair.
  spec.environment = {{"PGPASSWORD", ""}};
  if (stop != nullptr && !stop->load()) spec.interrupt = stop;
  return run_process(spec);
}

bool went_well(const ProcessResult& result) {
  return result.exec_errno == 0 && result.exit_code == 0;
}

std::string complaint(const ProcessResult& result) {
  if (result.interrupted) return "interrupted";
  std::string text;
  for (std::string_view line : lines_of(result.stderr_text)) {
    const auto name =
        line.substr(0, line.find(": ") + 2);  // "sbatch: error: ": who says it is known
    if (name.starts_with("s") && name.find(' ') == name.size() - 1) line.remove_prefix(name.size());
    if (line.starts_with("error: ")) line.remove_prefix(7);
    text.append(text.empty() ? "" : "; ").append(line);
  }
  return text.empty() ? "no answer" : printable(text);
}

std::vector<std::string> fields_of(std::string_view line, char separator) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const auto end = std::min(line.find(separator, begin), line.size());
    fields.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

std::vector<std::string> lines_of(const std::string& text) {
  auto lines = fields_of(text, '\n');
  std::erase(lines, "");
  return lines;
}

}  // namespace assay::lab
