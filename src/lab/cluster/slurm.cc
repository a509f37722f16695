// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/slurm.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/interrupted.h"
#include "base/process.h"
#include "lab/cluster/slurm_command.h"

namespace assay::lab {
namespace {

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

// sbatch tries again for two minutes by itself, and gives up.
class NoRoom : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};
bool is_no_room(std::string_view complaint) {
  const auto says = [&](std::string_view words) { return complaint.find(words) != complaint.npos; };
  return says("temporarily unable to accept job") || says("job queue full") ||
         says("temporarily disabled");
}

// In messages.
std::string partition_of(const SlurmOptions& options) {
  return options.partition.empty() ? "Slurm's default partition (--partition names another)"
                                   : fmt::format("--partition '{}'", options.partition);
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

bool was_refused(const SlurmJob& job) {
  static const std::set<std::string> kRefusals = {"BadConstraints", "InvalidAccount", "InvalidQOS",
                                                  "DeadLine"};
  return !is_active(job) && kRefusals.contains(job.reason);
}

void need_slurm() {
  for (const char* name : {"sbatch", "squeue", "scancel", "sinfo"}) {
    if (!find_program(name)) {
      throw EnvironmentError(
          fmt::format("--executor slurm needs Slurm's commands in PATH, there is no '{}'", name));
    }
  }
}

SlurmLimits slurm_limits(const std::atomic<bool>& stop) {
  SlurmLimits limits;
  for (const auto& line :
       lines_of(slurm_command({"scontrol", "show", "config"}, &stop).stdout_text)) {
    const auto name = line.substr(0, line.find(' '));
    const auto value = integer_in(std::string_view(line).substr(line.find_last_of(" =") + 1));
    if (name == "MaxArraySize" && value) limits.tasks_of_array = std::min(1000, *value);
    if (name == "MaxJobCount" && value) limits.jobs = *value;
  }
  return limits;
}

std::vector<SlurmNode> slurm_nodes(const SlurmOptions& options, const std::atomic<bool>& stop) {
  std::vector<std::string> argv = {"sinfo", "-h", "-N", "-o", "%N|%t|%P|%f|%c|%m|%z|%G|%E"};
  if (!options.partition.empty()) argv.push_back("--partition=" + options.partition);
  const auto result = slurm_command(argv, &stop);
  if (result.interrupted) throw Interrupted("interrupted while sinfo was asked for nodes");
  if (!went_well(result)) {
    throw EnvironmentError(fmt::format("sinfo: {}", complaint(result)));
  }
  std::vector<SlurmNode> nodes;
  std::set<std::string> seen(options.excluded.begin(), options.excluded.end());
  std::set<std::string> all_features;
  std::string broken;
  for (const auto& line : lines_of(result.stdout_text)) {
    const auto field = fields_of(line, '|');
    if (field.size() < 9) continue;  // a reason may have anything in it
    if (options.partition.empty() && !field[2].ends_with('*')) continue;  // not the default one
    const bool works = field[1].find_first_of("*#") == std::string::npos &&
                       !field[1].starts_with("down") && !field[1].starts_with("dr") &&
                       !field[1].starts_with("fail");
    const auto features = fields_of(field[3], ',');
    all_features.insert(features.begin(), features.end());
    const bool is_word = options.constraint.find_first_of("&|[]*()!,") == std::string::npos;
    const bool fits = options.constraint.empty() || !is_word ||
                      std::ranges::find(features, options.constraint) != features.end();
    if (!fits || !seen.insert(field[0]).second) continue;
    const auto kind = fmt::format("{} ({} CPUs as {}, {} MB, {})", field[3], field[4], field[6],
                                  field[5], field[7]);
    nodes.push_back({field[0], kind, works});
    if (!works) broken += fmt::format("; {} is '{}' ({})", field[0], field[1], field[8]);
  }
  if (all_features.empty()) {
    throw EnvironmentError(fmt::format("there is no node in {}", partition_of(options)));
  }
  if (nodes.empty()) {
    throw EnvironmentError(
        fmt::format("no node in {} has the feature (they have: {}): --constraint '{}'",
                    partition_of(options), fmt::join(all_features, ", "), options.constraint));
  }
  if (std::ranges::none_of(nodes, &SlurmNode::works)) {
    throw EnvironmentError(fmt::format("no node works in {}{}", partition_of(options), broken));
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

std::string placement_typed(const SlurmOptions& options) {
  auto typed = options;
  typed.excluded.clear();
  return fmt::format("{}", fmt::join(slurm_placement(typed), " "));
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
  if (!went_well(result)) {
    const auto typed = placement_typed(options);
    const auto said =
        fmt::format("sbatch{}{}: {}", typed.empty() ? "" : " ", typed, complaint(result));
    if (is_no_room(said)) throw NoRoom(said);
    throw EnvironmentError(said);
  }
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
    } catch (const EnvironmentError& error) {
      std::string why;
      auto jobs = slurm_jobs({name}, stop, &why);
      if (jobs && std::ranges::all_of(*jobs, was_refused)) {
        if (dynamic_cast<const NoRoom*>(&error) == nullptr) throw;
        if (!stop.load()) wait(error.what());
        if (stop.load()) return std::nullopt;
        continue;
      }
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
