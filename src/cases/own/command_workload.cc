// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/command_workload.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/resident_memory.h"
#include "cases/own/command.h"
#include "cases/own/command_words.h"
#include "cases/own/inputs.h"
#include "tensor/npy.h"
#include "tensor/safetensors.h"
#include "tensor/tensor.h"

namespace assay::cases::own {
namespace {

using lab::ProviderFailure;
using lab::Status;

double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class CommandWorkload : public lab::Workload {
 public:
  CommandWorkload(const std::vector<std::string>& argv, const std::string& working_directory,
                  const std::string& directory, Problem problem, Json point,
                  const std::array<int, 3>& sets)
      : folder_(directory + "/command"),
        problem_(std::move(problem)),
        point_(std::move(point)),
        sets_(sets) {
    const auto program = find_program(argv[0]);
    if (!program) {
      throw ProviderFailure(Status::kEnvMissing, "command_missing",
                            fmt::format("no such program: '{}'", argv[0]));
    }
    program_ = *program;
    for (int slot = 0; slot < 2; ++slot) {
      make_directories(input_folder(slot));
      auto& spec = specs_[static_cast<std::size_t>(slot)];
      spec.working_directory = working_directory;
      spec.errors = folder_ + "/stderr";
      std::map<std::string, std::string> words;
      for (const auto& [name, value] : point_.items()) {
        words[name] = value.is_string() ? value.get<std::string>() : canonical_json(value);
      }
      for (const auto& input : problem_.inputs) {
        words[input.name] = input_folder(slot) + "/" + input.name + ".npy";
      }
      for (const auto& output : problem_.outputs) words[output.name] = output_file(output.name);
      for (const auto& word : argv) spec.argv.push_back(with_words_replaced(word, words));
    }
  }

  void load(int slot, int set) override {
    for (const auto& input : problem_.inputs) {
      Tensor tensor(input.dtype_at(point_), input.shape_at(point_));
      fill_input(input, point_, sets_[static_cast<std::size_t>(set)], tensor.mutable_view());
      write_npy(input_folder(slot) + "/" + input.name + ".npy", tensor.view());
    }
  }
  void call(int slot) override {
    const auto times = run_command(specs_[static_cast<std::size_t>(slot)]);
    if (const auto why = failure_of(times); !why.empty()) {
      const auto said = last_line(folder_ + "/stderr");
      throw ProviderFailure(times.start_errno != 0 ? Status::kEnvMissing : Status::kFailed,
                            times.start_errno != 0 ? "command_missing"
                            : times.signal         ? "signal"
                                                   : "exit_code",
                            said.empty() ? why : fmt::format("{}: {}", why, said));
    }
    user_s_.push_back(times.user_s);
    system_s_.push_back(times.system_s);
    peak_bytes_ = times.peak_bytes;
  }
  void poison_outputs() override {
    for (const auto& output : problem_.outputs) std::filesystem::remove(output_file(output.name));
  }
  void write_outputs(const std::string& path) override {
    std::vector<Tensor> read;
    std::vector<std::pair<std::string, TensorView>> tensors;
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
    write_safetensors(path, tensors);
  }
  // The peak of the command alone: what we hold ourselves is no part of it, though the system
  // counts it in (command.h).
  double child_memory() const override {
    return std::max(0.0, peak_bytes_ - peak_resident_bytes());
  }
  std::map<std::string, double> metrics() const override {
    return {{"user_time", middle_of(user_s_)}, {"system_time", middle_of(system_s_)}};
  }
  std::map<std::string, std::string> versions() const override {
    return {{program_.substr(program_.rfind('/') + 1), "sha256:" + sha256_file(program_)}};
  }

 private:
  std::string input_folder(int slot) const { return fmt::format("{}/inputs-{}", folder_, slot); }
  std::string output_file(const std::string& name) const { return folder_ + "/" + name + ".npy"; }

  const std::string folder_;
  const Problem problem_;
  const Json point_;
  const std::array<int, 3> sets_;
  std::string program_;
  std::array<CommandSpec, 2> specs_;
  std::vector<double> user_s_, system_s_;  // of each call
  double peak_bytes_ = 0;                  // of the last
};

}  // namespace

std::unique_ptr<lab::Workload> command_workload(const std::vector<std::string>& argv,
                                                const std::string& working_directory,
                                                const std::string& directory, Problem problem,
                                                Json point, const std::array<int, 3>& sets) {
  return std::make_unique<CommandWorkload>(argv, working_directory, directory, std::move(problem),
                                           std::move(point), sets);
}

}  // namespace assay::cases::own
