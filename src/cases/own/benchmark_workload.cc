// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/benchmark_workload.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_stream.h"
#include "base/process.h"
#include "cases/own/command.h"
#include "cases/own/launcher.h"
#include "lab/record/benchmark_entry.h"
#include "tensor/safetensors.h"

namespace assay::cases::own {
namespace {

using lab::ProviderFailure;
using lab::Status;

constexpr std::size_t kMostRepetitions = 10'000;  // of a row
constexpr std::size_t kMostNames = 100, kNamesTold = 5;

[[noreturn]] void fail_attempt(const char* code, const std::string& message) {
  throw ProviderFailure(Status::kFailed, code, message);
}

// Collects the entries of a file that should be about one benchmark.
class Repetitions {
 public:
  void add(const lab::BenchmarkEntry& entry) {
    if (std::ranges::find(names_, entry.benchmark) == names_.end() && names_.size() < kMostNames) {
      names_.push_back(entry.benchmark);
    }
    if (names_.size() > 1) return;
    if (entry.aggregate.empty()) {
      if (instance_.empty()) instance_ = entry.instance;
      several_instances_ = several_instances_ || entry.instance != instance_;
    }
    if (!entry.failure.empty()) {
      if (failure_.empty()) failure_ = entry.failure, message_ = entry.message;
    } else if (!entry.aggregate.empty()) {
      if (entry.aggregate == "median" || (entry.aggregate == "mean" && aggregate_s_ == 0)) {
        aggregate_s_ = entry.real_s;
      }
    } else {
      add_times(entry);
    }
  }

  // `wanted` is the exact name, or empty; `command` is for people.
  lab::OwnTimes times(const std::string& wanted, const std::string& command) {
    if (names_.empty()) fail_attempt("no_benchmark", "no benchmark matches: " + command);
    if (names_.size() > 1) {
      const auto told = std::min(names_.size(), kNamesTold);
      fail_attempt("several_benchmarks",
                   fmt::format("{}{} benchmarks match, expected one: {}{}",
                               names_.size() == kMostNames ? "at least " : "", names_.size(),
                               fmt::join(names_.begin(),
                                         names_.begin() + static_cast<std::ptrdiff_t>(told), ", "),
                               told < names_.size() ? ", …" : ""));
    }
    if (!wanted.empty() && names_[0] != wanted) {
      fail_attempt("no_benchmark",
                   fmt::format("asked for '{}', the program ran '{}'", wanted, names_[0]));
    }
    if (several_instances_) {
      fail_attempt("several_benchmarks",
                   fmt::format("several benchmarks have this name: '{}'", names_[0]));
    }
    if (!failure_.empty()) fail_attempt(failure_.c_str(), told_message());
    if (times_.steady_s.empty() && aggregate_s_ > 0) {  // --benchmark_report_aggregates_only
      times_.steady_s = {aggregate_s_};
      times_.batch_calls = 1;
    }
    if (times_.steady_s.empty()) {
      fail_attempt("bad_output", fmt::format("'{}' has no repetitions", names_[0]));
    }
    return std::move(times_);
  }

 private:
  void add_times(const lab::BenchmarkEntry& entry) {
    if (!(entry.real_s > 0) || !std::isfinite(entry.real_s)) {
      fail_attempt("bad_output",
                   fmt::format("'{}': an iteration took {} s", entry.benchmark, entry.real_s));
    }
    if (entry.iterations < 1) {
      fail_attempt("bad_output",
                   fmt::format("'{}': {} iterations", entry.benchmark, entry.iterations));
    }
    if (times_.steady_s.size() == kMostRepetitions) {
      fail_attempt("bad_output", fmt::format("'{}' has more than {} repetitions", entry.benchmark,
                                             kMostRepetitions));
    }
    times_.steady_s.push_back(entry.real_s);
    times_.batch_calls =
        times_.batch_calls == 0 ? entry.iterations : std::min(times_.batch_calls, entry.iterations);
    add_sample("cpu_time", entry.cpu_s);
    if (entry.bytes_per_second) add_sample("bandwidth", *entry.bytes_per_second);
    if (entry.items_per_second) add_sample("item_rate", *entry.items_per_second);
  }
  // A time on a processor of 0 is that of a program that waits, or of a coarse clock: no value.
  void add_sample(const char* name, double value) {
    if (value > 0 && std::isfinite(value)) times_.samples[name].push_back(value);
  }
  std::string told_message() const {
    return fmt::format("'{}'{}{}", names_[0], message_.empty() ? "" : ": ", message_);
  }

  std::vector<std::string> names_;
  std::string instance_, failure_, message_;
  bool several_instances_ = false;
  double aggregate_s_ = 0;
  lab::OwnTimes times_;
};

class BenchmarkWorkload : public lab::Workload {
 public:
  BenchmarkWorkload(std::vector<std::string> argv, std::string benchmark,
                    const std::string& working_directory, const std::string& directory)
      : benchmark_(std::move(benchmark)), folder_(directory + "/benchmark") {
    const auto program = find_program(argv[0]);
    if (!program) {
      throw ProviderFailure(Status::kEnvMissing, "command_missing",
                            fmt::format("no such program: '{}'", argv[0]));
    }
    program_ = *program;
    make_directories(folder_);
    spec_.argv = std::move(argv);
    spec_.working_directory = working_directory;
    spec_.errors = folder_ + "/stderr";
  }

  bool times_itself() const override { return true; }
  lab::OwnTimes own_times(const lab::MeasureSettings& settings) override {
    const auto out = folder_ + "/out.json";
    auto spec = spec_;
    // Later options win: what the case file says of these two stands.
    const double seconds = std::max(settings.batch_min_s, settings.steady_s / settings.batches);
    const std::vector<std::string> effort = {
        fmt::format("--benchmark_repetitions={}", settings.batches),
        fmt::format("--benchmark_min_time={}", seconds)};
    spec.argv.insert(spec.argv.begin() + 1, effort.begin(), effort.end());
    if (!benchmark_.empty()) spec.argv.push_back("--benchmark_filter=" + exact_filter(benchmark_));
    for (const auto& option :
         {"--benchmark_format=console", "--benchmark_out_format=json",
          "--benchmark_report_aggregates_only=false", "--benchmark_list_tests=false"}) {
      spec.argv.emplace_back(option);
    }
    spec.argv.push_back("--benchmark_out=" + out);
    const auto times = Launcher(launcher_program()).run(spec);
    peak_bytes_ = times.peak_bytes;
    if (!failure_of(times).empty()) throw failed_command(times, spec_.errors);
    return read(out);
  }

  void load(int, int) override {}
  void call(int) override {}
  void poison_outputs() override {}
  void write_outputs(const std::string& path) override { write_safetensors(path, {}); }
  std::map<std::string, double> metrics() const override {
    return {{"peak_rss_steady", peak_bytes_}};
  }
  std::map<std::string, std::string> versions() const override { return versions_; }

 private:
  lab::OwnTimes read(const std::string& out) {
    const auto command = fmt::format("{}", fmt::join(spec_.argv, " ")) +
                         (benchmark_.empty() ? "" : fmt::format(" ('{}')", benchmark_));
    if (!std::filesystem::is_regular_file(out)) {
      fail_attempt("no_output", "it left no JSON; is it a Google Benchmark program? " + command);
    }
    Repetitions repetitions;
    try {
      MappedFile file(out);
      // A program that finds nothing to run leaves an empty file and ends well.
      if (file.text().empty()) return repetitions.times(benchmark_, command);
      const auto bytes = file.own_bytes();
      lab::blank_non_numbers({reinterpret_cast<char*>(bytes.data()), bytes.size()});
      const Json rest = for_each_element(pieces_of(file.text()), kWhat,
                                         std::array<std::string_view, 1>{"benchmarks"},
                                         [&](std::size_t, const Json& entry) {
                                           repetitions.add(lab::read_benchmark_entry(entry, kWhat));
                                         });
      if (!rest.is_object() || !rest.contains("benchmarks")) {
        fail("{}: it has no list of benchmarks", kWhat);
      }
      take_versions(rest);
    } catch (const UserError& e) {
      fail_attempt("bad_output", e.what());
    } catch (const Json::exception& e) {
      fail_attempt("bad_output", fmt::format("{}: {}", kWhat, e.what()));
    }
    return repetitions.times(benchmark_, command);
  }

  void take_versions(const Json& rest) {
    versions_[program_.substr(program_.rfind('/') + 1)] = "sha256:" + sha256_file(program_);
    const auto context = rest.find("context");
    if (context == rest.end() || !context->is_object()) return;
    const auto take = [&](const char* key, const char* name) {
      const auto found = context->find(key);
      if (found == context->end() || !found->is_string()) return;
      versions_[name] = found->get<std::string>().substr(0, 64);
    };
    take("library_version", "google-benchmark");
    take("library_build_type", "google-benchmark build");
  }

  static constexpr std::string_view kWhat = "the program's JSON";

  const std::string benchmark_, folder_;
  std::string program_;
  CommandSpec spec_;
  double peak_bytes_ = 0;
  std::map<std::string, std::string> versions_;
};

}  // namespace

std::string exact_filter(std::string_view benchmark) {
  std::string filter = "^";
  for (const char c : benchmark) {
    // Closing brackets stand for themselves, and std::regex knows no escape of them.
    if (std::string_view("\\^$.|?*+()[{").find(c) != std::string_view::npos) filter += '\\';
    filter += c;
  }
  return filter + "$";
}

std::unique_ptr<lab::Workload> benchmark_workload(std::vector<std::string> argv,
                                                  std::string benchmark,
                                                  const std::string& working_directory,
                                                  const std::string& directory) {
  return std::make_unique<BenchmarkWorkload>(std::move(argv), std::move(benchmark),
                                             working_directory, directory);
}

}  // namespace assay::cases::own
