// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/slurm.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/interrupted.h"
#include "base/process.h"
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

// Given up when `stop` becomes true, unless it was so before: then it is about the end of jobs.
ProcessResult slurm_command(const std::vector<std::string>& words,
                            const std::atomic<bool>* stop = nullptr) {
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
  auto text = result.stderr_text;
  while (!text.empty() && text.back() == '\n') text.pop_back();
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

std::optional<int> integer_in(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

// As wait() has it, or as CODE:SIGNAL.
std::optional<int> exit_code_in(const std::string& text) {
  if (text.find(':') != std::string::npos) return integer_in(text.substr(0, text.find(':')));
  const auto status = integer_in(text);
  return status ? std::optional(*status >> 8) : std::nullopt;
}

std::string comma_joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ","));
}

}  // namespace

Json slurm_options_to_json(const SlurmOptions& o) {
  return {{"partition", o.partition},   {"account", o.account}, {"time", o.time},
          {"constraint", o.constraint}, {"nodes", o.nodes},     {"gpus_per_node", o.gpus_per_node},
          {"excluded", o.excluded}};
}

SlurmOptions slurm_options_from_json(const Json& json, std::string_view what) {
  SlurmOptions o;
  o.partition = json_field<std::string>(json, "partition", what);
  o.account = json_field<std::string>(json, "account", what);
  o.time = json_field<std::string>(json, "time", what);
  o.constraint = json_field<std::string>(json, "constraint", what);
  o.nodes = static_cast<int>(json_field<std::int64_t>(json, "nodes", what));
  o.gpus_per_node = static_cast<int>(json_field<std::int64_t>(json, "gpus_per_node", what));
  for (const auto& name : json_field<Json>(json, "excluded", what)) {
    o.excluded.push_back(name.get<std::string>());
  }
  return o;
}

double slurm_time_s(const std::string& text) {
  const auto wrong = [&] {
    fail(
        "--time is as Slurm has it (minutes, [hours:]minutes:seconds, days-hours[:minutes]), "
        "got '{}'",
        text);
  };
  const auto number = [&](std::string_view part) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (part.empty() || error != std::errc() || end != part.data() + part.size()) wrong();
    return static_cast<double>(value);
  };
  const auto dash = text.find('-');
  const bool has_days = dash != std::string::npos;
  const auto parts = fields_of(std::string_view(text).substr(has_days ? dash + 1 : 0), ':');
  if (parts.size() > 3) wrong();
  double seconds = has_days ? 86400 * number(std::string_view(text).substr(0, dash)) : 0;
  // Without days one part is minutes, and two are minutes and seconds.
  static constexpr std::array<double, 4> kUnits = {3600, 60, 1, 0};
  const std::size_t first = has_days || parts.size() == 3 ? 0 : 1;
  for (std::size_t i = 0; i < parts.size(); ++i) seconds += number(parts[i]) * kUnits[first + i];
  if (!(seconds > 0)) wrong();
  return seconds;
}

bool is_active(const SlurmJob& job) {
  static const std::set<std::string> kActive = {
      "PENDING",   "CONFIGURING", "RUNNING",      "COMPLETING",    "SUSPENDED",
      "STOPPED",   "REQUEUED",    "REQUEUE_FED",  "REQUEUE_HOLD",  "RESIZING",
      "SIGNALING", "STAGE_OUT",   "SPECIAL_EXIT", "RESV_DEL_HOLD", "POWER_UP_NODE"};
  return kActive.contains(job.state);
}

std::optional<std::string> why_one_waits(const std::vector<SlurmJob>& jobs) {
  static const std::set<std::string> kTimeWillTell = {"",
                                                      "None",
                                                      "Priority",
                                                      "Resources",
                                                      "Dependency",
                                                      "BeginTime",
                                                      "JobArrayTaskLimit",
                                                      "Cleaning",
                                                      "Prolog",
                                                      "WaitingForScheduling"};
  for (const auto& job : jobs) {
    if (job.state != "PENDING" || kTimeWillTell.contains(job.reason)) continue;
    return fmt::format(
        "job {} waits and may never start, Slurm says '{}' (--partition, --time, --nodes, "
        "--constraint say otherwise); still waiting, Ctrl-C ends",
        job.id, job.reason);
  }
  return std::nullopt;
}

void need_slurm() {
  for (const char* name : {"sbatch", "squeue", "scancel", "sinfo"}) {
    if (!find_program(name)) {
      throw EnvironmentError(
          fmt::format("--executor slurm needs Slurm's commands in PATH, there is no '{}'", name));
    }
  }
}

std::vector<SlurmNode> slurm_nodes(const SlurmOptions& options, const std::atomic<bool>& stop) {
  std::vector<std::string> argv = {"sinfo", "-h", "-N", "-o", "%N|%t|%P|%f|%c|%m|%z|%G"};
  if (!options.partition.empty()) argv.push_back("--partition=" + options.partition);
  const auto result = slurm_command(argv, &stop);
  if (result.interrupted) throw Interrupted("interrupted while sinfo was asked for nodes");
  if (!went_well(result)) {
    throw EnvironmentError(fmt::format("sinfo: {}", complaint(result)));
  }
  std::vector<SlurmNode> nodes;
  std::set<std::string> seen(options.excluded.begin(), options.excluded.end());
  for (const auto& line : lines_of(result.stdout_text)) {
    const auto field = fields_of(line, '|');
    if (field.size() != 8) continue;
    if (options.partition.empty() && !field[2].ends_with('*')) continue;  // not the default one
    const bool works = field[1].find_first_of("*#") == std::string::npos &&
                       !field[1].starts_with("down") && !field[1].starts_with("dr") &&
                       !field[1].starts_with("fail");
    const auto features = fields_of(field[3], ',');
    const bool is_word = options.constraint.find_first_of("&|[]*()!,") == std::string::npos;
    const bool fits = options.constraint.empty() || !is_word ||
                      std::ranges::find(features, options.constraint) != features.end();
    if (!fits || !seen.insert(field[0]).second) continue;
    const auto kind = fmt::format("{} ({} CPUs as {}, {} MB, {})", field[3], field[4], field[6],
                                  field[5], field[7]);
    nodes.push_back({field[0], kind, works});
  }
  if (std::ranges::none_of(nodes, &SlurmNode::works)) {
    throw EnvironmentError(fmt::format("no node works in partition '{}' with constraint '{}'",
                                       options.partition, options.constraint));
  }
  return nodes;
}

std::vector<std::string> slurm_placement(const SlurmOptions& options) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("{}={}", option, value));
  };
  add("--partition", options.partition);
  add("--account", options.account);
  add("--time", options.time);
  add("--constraint", options.constraint);
  add("--exclude", comma_joined(options.excluded));
  if (options.gpus_per_node > 0) add("--gpus-per-node", std::to_string(options.gpus_per_node));
  return words;
}

std::string slurm_submit(const SlurmOptions& options, const std::vector<std::string>& arguments,
                         const std::string& script) {
  std::vector<std::string> argv = {"sbatch", "--parsable", "--requeue", "--export=ALL",
                                   "--output=/dev/null"};
  for (const auto& words : {slurm_placement(options), arguments}) {
    argv.insert(argv.end(), words.begin(), words.end());
  }
  argv.push_back(script);
  const auto result = slurm_command(argv);
  if (!went_well(result)) throw EnvironmentError(fmt::format("sbatch: {}", complaint(result)));
  const auto lines = lines_of(result.stdout_text);
  return lines.empty() ? "" : fields_of(lines.back(), ';').front();
}

std::optional<std::string> slurm_submit_patiently(
    const SlurmOptions& options, const std::string& name, std::vector<std::string> arguments,
    const std::string& script, const std::atomic<bool>& stop,
    const std::function<void(const std::string& why)>& wait) {
  arguments.push_back("--job-name=" + name);
  while (true) {
    try {
      return slurm_submit(options, arguments, script);
    } catch (const EnvironmentError&) {
      std::string why;
      auto jobs = slurm_jobs({name}, stop, &why);
      const bool was_refused = jobs && jobs->empty();
      if (was_refused) throw;
      for (; !jobs; jobs = slurm_jobs({name}, stop, &why)) {
        if (!stop.load()) wait(why);
        if (stop.load()) return std::nullopt;
      }
      if (!jobs->empty()) return jobs->front().id;
    }
  }
}

std::optional<std::vector<SlurmJob>> slurm_jobs(const std::vector<std::string>& names,
                                                const std::atomic<bool>& stop, std::string* why) {
  if (names.empty()) return std::vector<SlurmJob>();
  const auto result =
      slurm_command({"squeue", "-h", "--array", "--states=all", "--name=" + comma_joined(names),
                     "-O", "ArrayJobID:|,ArrayTaskID:|,State:|,Name:|,Reason:|,exit_code:|"},
                    &stop);
  if (!went_well(result)) {
    if (why != nullptr) *why = complaint(result);
    return std::nullopt;
  }
  std::vector<SlurmJob> jobs;
  for (const auto& line : lines_of(result.stdout_text)) {
    const auto field = fields_of(line, '|');
    if (field.size() < 6) continue;
    jobs.push_back({field[0], integer_in(field[1]), field[3], field[2], field[4], {}});
    if (!is_active(jobs.back())) jobs.back().exit_code = exit_code_in(field[5]);
  }
  return jobs;
}

bool slurm_cancel(const std::vector<std::string>& names) {
  static const std::atomic<bool> kGoesOn = false;
  const auto jobs = slurm_jobs(names, kGoesOn);
  if (!jobs) return false;
  std::set<std::string> ids;
  for (const auto& job : *jobs) {
    if (is_active(job)) ids.insert(job.id);
  }
  if (ids.empty()) return true;
  std::vector<std::string> argv = {"scancel"};
  argv.insert(argv.end(), ids.begin(), ids.end());
  return went_well(slurm_command(argv));
}

std::string unanswered_end() {
  return "warning: Slurm does not answer, and jobs are to be cancelled: waiting for it; Ctrl-C "
         "again "
         "leaves them alone";
}

std::string shell_needs_folder(const std::string& folder) {
  const std::filesystem::path path = folder;
  return fmt::format(
      "for try in 1 2 3; do\n"
      "  [ -d {0} ] && break\n"
      "  ls {1} {2} >/dev/null 2>&1  # a network's folder that is new: its parents are read again\n"
      "  sleep 1\n"
      "done\n"
      "[ -d {0} ] || exit {3}\n",
      shell_quoted(folder), shell_quoted(path.parent_path().parent_path().string()),
      shell_quoted(path.parent_path().string()), kFolderUnseen);
}

std::string unseen_folder(const std::string& folder) {
  return fmt::format(
      "a node does not see this folder, which must be shared with all of them under this path: "
      "'{}'",
      folder);
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace assay::lab
