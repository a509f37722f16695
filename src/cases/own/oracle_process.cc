// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/oracle_process.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "lab/record/protocol.h"
#include "tensor/npy.h"
#include "tensor/safetensors.h"

namespace assay::cases::own {
namespace {

constexpr const char* kOracleFolder = "assay-oracle";
constexpr double kOracleSeconds = 600;
constexpr double kOracleMemoryShare = 0.8;  // of the machine's

using Rows = std::map<std::string, std::vector<std::int64_t>>;

[[noreturn]] void oracle_failed(const CaseFile& file, const std::string& why) {
  fail("{}: oracle: {}", file.path, why);
}

std::uint64_t oracle_memory() {
  return static_cast<std::uint64_t>(kOracleMemoryShare *
                                    static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                                    static_cast<double>(::sysconf(_SC_PAGESIZE)));
}

// The last line that was printed.
std::string last_said(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text.substr(text.find_last_of('\n') + 1);
}

void run_oracle(const CaseFile& file, const OraclePrograms& programs,
                std::vector<std::string> argv) {
  ProcessSpec process;
  process.argv = std::move(argv);
  process.environment = {{"PYTHONPATH", programs.python_package},
                         {"PYTHONDONTWRITEBYTECODE", "1"},
                         {"PYTHONHASHSEED", "0"}};
  process.time_limit_s = kOracleSeconds;
  process.memory_limit = oracle_memory();
  const auto result = run_process(process);
  const auto said = last_said(result.stderr_text);
  if (result.exec_errno != 0) {
    oracle_failed(
        file, fmt::format("cannot start '{}': {}", process.argv[0], errno_text(result.exec_errno)));
  }
  if (result.timed_out) oracle_failed(file, fmt::format("took longer than {} s", kOracleSeconds));
  if (result.over_memory) oracle_failed(file, "took more than 80 % of the memory");
  if (result.signal) oracle_failed(file, fmt::format("ended by signal {}", *result.signal));
  if (result.exit_code != 0) {
    oracle_failed(file, said.empty() ? fmt::format("exit status {}", *result.exit_code) : said);
  }
}

// The rows asked for, of a whole output.
OracleValue rows_of(const TensorView& view, const std::vector<std::int64_t>& rows) {
  const std::int64_t count = view.element_count();
  const std::int64_t height = view.rank() == 0 ? 1 : view.extent(0);
  const std::int64_t width = height == 0 ? 0 : count / height;
  OracleValue value;
  visit_dtype(view.dtype(), [&]<typename T>(std::type_identity<T>) {
    const auto add = [&](std::int64_t row) {
      for (std::int64_t i = row * width; i < (row + 1) * width; ++i) {
        value.values.push_back(value_as_double(view, i));
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          value.integers.push_back(static_cast<std::int64_t>(view.data<T>()[i]));
        }
      }
    };
    if (rows.empty()) {
      for (std::int64_t row = 0; row < height; ++row) add(row);
    } else {
      for (const auto row : rows) add(row);
    }
  });
  return value;
}

// Integers of an integer output, where the oracle's numbers are that; and none of any other.
void settle_integers(const CaseFile& file, const TensorSpec& output, const Json& point,
                     OracleValue& value) {
  constexpr double kExact = 0x1p53;  // up to there fp64 has every integer
  const bool is_integer =
      visit_dtype(output.dtype_at(point), []<typename T>(std::type_identity<T>) {
        return std::is_integral_v<T> && !std::is_same_v<T, bool>;
      });
  if (!is_integer) value.integers.clear();
  if (!is_integer || !value.integers.empty()) return;
  for (const double number : value.values) {
    if (std::abs(number) > kExact) {
      oracle_failed(file, fmt::format("output '{}' is of integers, and {} in f64 is not exact: the "
                                      "oracle must give integers",
                                      output.name, number));
    }
  }
}

void check_oracle_form(const CaseFile& file, const TensorSpec& output, const Json& point,
                       const TensorView& view, const std::string& where) {
  const auto shape = output.shape_at(point);
  if (view.shape() != shape || is_complex(view.dtype())) {
    oracle_failed(file,
                  fmt::format("output '{}' of {} is {} {}, expected {}", output.name, where,
                              name_of(view.dtype()), view.shape().to_string(), shape.to_string()));
  }
}

OracleValues from_files(const CaseFile& file, const Json& point, const Rows& rows) {
  OracleValues values;
  for (const auto& output : file.problem.outputs) {
    const auto& path = file.oracle.files.at(output.name);
    const NpyFile answer(path);
    check_oracle_form(file, output, point, answer.view(), path);
    values[output.name] = rows_of(answer.view(), rows.at(output.name));
    settle_integers(file, output, point, values[output.name]);
  }
  return values;
}

OracleValues from_python(const CaseFile& file, const Json& definition, const Json& point, int set,
                         const Rows& rows, const OraclePrograms& programs) {
  const TemporaryDirectory folder(kOracleFolder);
  const auto spec = folder.path() + "/oracle.json", out = folder.path() + "/oracle.safetensors";
  const auto& function = file.oracle.python;
  write_file_atomically(
      spec, canonical_json({{"definition", definition},
                            {"point", point},
                            {"set", set},
                            {"rows", rows},
                            {"function", {{"file", function.file}, {"name", function.name}}},
                            {"out", out}}));
  run_oracle(file, programs,
             {programs.python("oracle", {"numpy"}), "-m", "assay_worker.own_oracle", spec});
  if (!std::filesystem::exists(out)) {
    oracle_failed(file, fmt::format("{}:{} ended its process without an answer (exit status 0)",
                                    function.file, function.name));
  }
  OracleValues values;
  const SafetensorsFile answer(out);
  for (const auto& output : file.problem.outputs) {
    values[output.name] = rows_of(answer.view(output.name), {});
    settle_integers(file, output, point, values[output.name]);
  }
  return values;
}

// The provider computes as in an attempt, but once; what it would be judged by is the answer.
OracleValues from_provider(const CaseFile& file, const Json& definition, const Json& point, int set,
                           const Rows& rows, const OraclePrograms& programs) {
  const TemporaryDirectory folder(kOracleFolder);
  const auto& provider = file.provider(file.oracle.provider);
  lab::WorkerSpec spec;
  spec.case_name = file.name;
  spec.provider = provider.id;
  spec.platform = provider.platforms.front();
  spec.points = {point};
  spec.deterministic = true;  // one call, and the one whose output is kept
  spec.directory = folder.path();
  spec.definition = definition;
  spec.definition["sets"] = Json::array({set, set, set});
  const auto path = lab::spec_path(spec.directory);
  write_file_atomically(path, canonical_json(lab::spec_to_json(spec)));
  if (provider.kind == ProviderSpec::Kind::kPython) {
    run_oracle(file, programs,
               {programs.python(provider.id, provider.modules), "-m", "assay_worker", path});
  } else {
    run_oracle(file, programs, {programs.worker, path});
  }
  const auto report = lab::report_path(spec.directory, 0);
  const auto said = lab::report_from_json(read_json_file(report), "the oracle's report");
  if (said.status != lab::Status::kOk) {
    oracle_failed(file, fmt::format("provider '{}': {}", provider.id, said.message));
  }
  OracleValues values;
  const SafetensorsFile answer(lab::output_path(spec.directory, 0));
  for (const auto& output : file.problem.outputs) {
    const auto& view = answer.view(output.name);
    check_oracle_form(file, output, point, view, "provider " + provider.id);
    values[output.name] = rows_of(view, rows.at(output.name));
    settle_integers(file, output, point, values[output.name]);
  }
  return values;
}

}  // namespace

OracleValues oracle_values(const CaseFile& file, const Json& definition, const Json& point, int set,
                           const Rows& rows, const OraclePrograms& programs) {
  remove_abandoned_directories(kOracleFolder);  // those of programs that were killed
  switch (file.oracle.kind) {
    case OracleSpec::Kind::kPython:
      return from_python(file, definition, point, set, rows, programs);
    case OracleSpec::Kind::kFile:
      return from_files(file, point, rows);
    case OracleSpec::Kind::kProvider:
      return from_provider(file, definition, point, set, rows, programs);
    case OracleSpec::Kind::kNone:
      break;
  }
  return {};
}

}  // namespace assay::cases::own
