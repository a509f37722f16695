// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "cases/own/case_file.h"
#include "cases/own/command_words.h"

namespace assay::cases::own {

void read_benchmark(const TomlTable& table, const CaseFile& of, ProviderSpec& provider) {
  constexpr std::size_t kLongestBenchmark = 4096;
  provider.kind = ProviderSpec::Kind::kBenchmark;
  std::map<std::string, std::string> known;
  for (const auto& parameter : of.parameters) known[parameter.name];
  const auto check_words = [&](std::string_view key, const std::string& word) {
    try {
      with_words_replaced(word, known);
    } catch (const UserError& e) {
      table.reject(key, "{}", e.what());
    }
  };
  provider.command = read_texts(table, "google_benchmark");
  if (provider.command.empty() || provider.command[0].empty()) {
    table.reject("google_benchmark", "expected a program and its arguments, got none");
  }
  for (const auto& word : provider.command) check_words("google_benchmark", word);
  auto& directory = provider.run.directory;
  directory = of.folder();
  if (table.has("directory")) directory = beside(of, table.text("directory"));
  auto& program = provider.command[0];
  if (program.find('/') != std::string::npos) {
    program = (std::filesystem::path(directory) / program).lexically_normal().string();
  }
  if (!table.has("benchmark")) return;
  const auto is_filter = [](const std::string& word) {
    return word.starts_with("--benchmark_filter");
  };
  if (std::ranges::any_of(provider.command, is_filter)) {
    table.reject("benchmark", "the name of the benchmark, or a filter: not both");
  }
  provider.benchmark = table.text("benchmark");
  if (provider.benchmark.empty() || provider.benchmark.size() > kLongestBenchmark) {
    table.reject("benchmark", "expected the name of a benchmark");
  }
  check_words("benchmark", provider.benchmark);
}

}  // namespace assay::cases::own
