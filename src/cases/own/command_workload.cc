// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/command_workload.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "cases/own/command_words.h"
#include "cases/own/definition.h"
#include "cases/own/inputs.h"
#include "cases/own/launch_protocol.h"
#include "cases/own/launcher.h"
#include "tensor/npy.h"
#include "tensor/safetensors.h"
#include "tensor/tensor.h"

namespace assay::cases::own {
namespace {

using lab::ProviderFailure;
using lab::Status;

constexpr int kShellStarts = 10;

double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// What tells whether anybody has written to a file since: the system's own time of change.
struct FileState {
  std::int64_t inode = 0, size = -1, seconds = 0, nanoseconds = 0;
  bool operator==(const FileState&) const = default;
};
FileState state_of(const std::string& path) {
  struct stat s = {};
  if (::stat(path.c_str(), &s) != 0) return {};
  return {static_cast<std::int64_t>(s.st_ino), s.st_size, s.st_ctim.tv_sec, s.st_ctim.tv_nsec};
}

class CommandWorkload : public lab::Workload {
 public:
  CommandWorkload(const ProviderSpec& provider, const std::string& directory, Problem problem,
                  Json point, const std::array<int, 3>& sets)
      : options_(provider.run),
        command_(provider.command),
        folder_(directory + "/command"),
        problem_(std::move(problem)),
        point_(std::move(point)),
        sets_(sets),
        launcher_(launcher_program()) {
    const auto program = find_program(program_of(provider));
    if (!program) {
      throw ProviderFailure(Status::kEnvMissing, "command_missing",
                            fmt::format("no such program: '{}'", program_of(provider)));
    }
    program_ = *program;
    for (int slot = 0; slot < 2; ++slot) make_slot(slot);
    run_hook("setup", options_.setup, true);
    is_set_up_ = true;
    if (!options_.shell.empty()) time_shell();
  }
  ~CommandWorkload() override {
    try {  // what went wrong is told already
      finish();
    } catch (const ProviderFailure&) {
    }
  }

  void load(int slot, int set) override {
    for (const auto& input : problem_.inputs) {
      Tensor tensor(input.dtype_at(point_), input.shape_at(point_));
      fill_input(input, point_, sets_[static_cast<std::size_t>(set)], tensor.mutable_view());
      write_npy(input_file(slot, input.name), tensor.view());
      seen_[static_cast<std::size_t>(slot)][input.name] = state_of(input_file(slot, input.name));
    }
  }
  void call(int slot) override {
    conclude();
    slot_ = slot;
    run_hook("prepare", options_.prepare);
    must_conclude_ = true;
    last_ = launcher_.run(specs_[static_cast<std::size_t>(slot)]);
    const bool counts =
        failure_of(last_).empty() || (options_.ignore_failure && last_.start_errno == 0);
    if (!counts) throw failed_command(last_, errors_file());
    check_inputs(slot);
    user_s_.push_back(std::max(0.0, last_.user_s - shell_.user_s));
    system_s_.push_back(std::max(0.0, last_.system_s - shell_.system_s));
    peak_bytes_ = std::max(peak_bytes_, last_.peak_bytes);
  }
  std::optional<double> own_seconds() const override {
    return std::max(kNothingLeft, last_.wall_s - shell_.wall_s);
  }
  bool is_whole_run() const override { return problem_.inputs.empty(); }
  std::optional<int> warm_up_calls() const override {
    if (!options_.warm_up) return std::nullopt;
    return static_cast<int>(*options_.warm_up);
  }
  std::map<std::string, double> call_values() const override {
    return {{"user_time", user_s_.back()},
            {"system_time", system_s_.back()},
            {"run_peak_rss", last_.peak_bytes},
            {"exit_code", last_.signal ? 128 + *last_.signal : *last_.exit_code}};
  }

  void poison_outputs() override {
    for (const auto& output : problem_.outputs) std::filesystem::remove(output_file(output.name));
  }
  void write_outputs(const std::string& path) override {
    std::vector<Tensor> read;
    std::vector<std::pair<std::string, TensorView>> tensors;
    std::map<std::string, std::string> metadata;
    for (const auto& output : problem_.outputs) {
      try {
        read.push_back(read_npy(output_file(output.name)));
      } catch (const UserError& e) {
        throw ProviderFailure(Status::kFailed, "no_output", e.what());
      }
    }
    for (std::size_t i = 0; i < read.size(); ++i) {
      tensors.emplace_back(problem_.outputs[i].name, read[i].view());
    }
    if (!options_.check.empty()) {
      const auto why = failure_of(launcher_.run(hook_spec(options_.check)));
      metadata[kCheckSaid] = why.empty() ? "fine" : with_last_words(why);
      read.emplace_back(DType::kI32, Shape());
      read.back().mutable_view().data<std::int32_t>()[0] = why.empty() ? 0 : 1;
      tensors.emplace_back(kCheckOutput, read.back().view());
    }
    write_safetensors(path, tensors, metadata);
    finish();
  }
  double child_memory() const override { return last_.peak_bytes; }
  std::map<std::string, double> metrics() const override {
    std::map<std::string, double> metrics = {{"user_time", middle_of(user_s_)},
                                             {"system_time", middle_of(system_s_)}};
    if (is_whole_run()) metrics["peak_rss_steady"] = peak_bytes_;
    if (!options_.shell.empty()) metrics["shell_time"] = shell_.wall_s;
    return metrics;
  }
  std::map<std::string, std::string> versions() const override {
    auto versions = std::map<std::string, std::string>{
        {program_.substr(program_.rfind('/') + 1), "sha256:" + sha256_file(program_)}};
    if (!options_.shell.empty()) versions["command"] = specs_[0].argv.back();
    return versions;
  }

 private:
  std::string input_folder(int slot) const { return fmt::format("{}/inputs-{}", folder_, slot); }
  std::string input_file(int slot, const std::string& name) const {
    return input_folder(slot) + "/" + name + ".npy";
  }
  // A command that changes what it reads is given something else at its next run.
  void check_inputs(int slot) const {
    for (const auto& [name, state] : seen_[static_cast<std::size_t>(slot)]) {
      if (state_of(input_file(slot, name)) == state) continue;
      throw ProviderFailure(
          Status::kFailed, "input_changed",
          fmt::format("it changed its input '{}', which its next runs read: let it copy first",
                      name));
    }
  }
  std::string output_file(const std::string& name) const { return folder_ + "/" + name + ".npy"; }
  std::string errors_file() const { return folder_ + "/stderr"; }

  void make_slot(int slot) {
    make_directories(input_folder(slot));
    auto& words = words_[static_cast<std::size_t>(slot)];
    words = point_words(point_);
    for (const auto& input : problem_.inputs) {
      words[input.name] = input_file(slot, input.name);
    }
    for (const auto& output : problem_.outputs) words[output.name] = output_file(output.name);
    auto& spec = specs_[static_cast<std::size_t>(slot)];
    spec.working_directory = options_.directory;
    spec.errors = errors_file();
    if (!options_.input.empty()) spec.input = text_at(slot, options_.input);
    if (options_.output == "pipe") {
      spec.output = kThroughPipe;
    } else if (options_.output != "null") {
      spec.output = text_at(slot, options_.output);
    }
    if (options_.shell.empty()) {
      // A file without parameters has no names: braces are the program's own.
      for (const auto& word : command_) {
        spec.argv.push_back(!words.empty() ? with_words_replaced(word, words) : word);
      }
    } else {
      spec.argv = options_.shell;
      spec.argv.insert(spec.argv.end(), {"-c", text_at(slot, command_[0])});
    }
  }
  // A shell's text: the seed, which is at every point with inputs, is not something that it was
  // told of.
  std::string text_at(int slot, const std::string& text) const {
    auto words = words_[static_cast<std::size_t>(slot)];
    words.erase("seed");
    return with_known_replaced(text, words);
  }

  CommandSpec hook_spec(const std::string& text) const {
    CommandSpec spec;
    spec.argv = options_.shell.empty() ? std::vector<std::string>{"sh"} : options_.shell;
    spec.argv.insert(spec.argv.end(), {"-c", text_at(slot_, text)});
    spec.working_directory = options_.directory;
    spec.errors = spec.output = errors_file();
    return spec;
  }
  void run_hook(const char* name, const std::string& text, bool keeps_children = false) {
    if (text.empty()) return;
    const auto why = failure_of(launcher_.run(hook_spec(text), keeps_children));
    if (why.empty()) return;
    throw ProviderFailure(
        Status::kFailed, fmt::format("{}_failed", name),
        fmt::format("{}: {} (where that is fine: '… || true')", name, with_last_words(why)));
  }
  // After the check of the last run, or when the next begins.
  void conclude() {
    if (!must_conclude_) return;
    must_conclude_ = false;
    run_hook("conclude", options_.conclude);
  }
  void finish() {
    conclude();
    if (!is_set_up_) return;
    is_set_up_ = false;
    run_hook("cleanup", options_.cleanup);
  }

  std::string with_last_words(const std::string& why) const {
    const auto said = last_line(errors_file());
    return said.empty() ? why : fmt::format("{}: {}", why, said);
  }

  void time_shell() {
    CommandSpec empty = specs_[0];
    empty.input = empty.output = "/dev/null";
    empty.argv.back() = "";
    std::vector<double> wall, user, system;
    for (int i = 0; i <= kShellStarts; ++i) {
      const auto times = launcher_.run(empty);
      if (const auto why = failure_of(times); !why.empty()) {
        throw ProviderFailure(times.start_errno != 0 ? Status::kEnvMissing : Status::kFailed,
                              "shell_failed",
                              fmt::format("shell '{}' with nothing to do: {}", options_.shell[0],
                                          with_last_words(why)));
      }
      if (i == 0) continue;  // brings it into the caches
      wall.push_back(times.wall_s);
      user.push_back(times.user_s);
      system.push_back(times.system_s);
    }
    shell_.wall_s = middle_of(wall);
    shell_.user_s = middle_of(user);
    shell_.system_s = middle_of(system);
  }

  const CommandOptions options_;
  const std::vector<std::string> command_;
  const std::string folder_;
  const Problem problem_;
  const Json point_;
  const std::array<int, 3> sets_;
  Launcher launcher_;
  std::string program_;
  std::array<std::map<std::string, std::string>, 2> words_;  // what {name} stands for
  std::array<CommandSpec, 2> specs_;
  std::array<std::map<std::string, FileState>, 2> seen_;  // input files as they were written
  CommandTimes shell_;                                    // its start alone
  int slot_ = 0;
  bool is_set_up_ = false, must_conclude_ = false;
  CommandTimes last_;
  std::vector<double> user_s_, system_s_;  // of each call
  double peak_bytes_ = 0;                  // of all
};

}  // namespace

std::unique_ptr<lab::Workload> command_workload(const ProviderSpec& provider,
                                                const std::string& directory, Problem problem,
                                                Json point, const std::array<int, 3>& sets) {
  return std::make_unique<CommandWorkload>(provider, directory, std::move(problem),
                                           std::move(point), sets);
}

}  // namespace assay::cases::own
