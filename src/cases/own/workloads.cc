// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/workloads.h"

#include "cases/own/benchmark_workload.h"
#include "cases/own/command_words.h"
#include "cases/own/command_workload.h"
#include "cases/own/definition.h"
#include "cases/own/library_workload.h"

namespace assay::cases::own {
namespace {

std::unique_ptr<lab::Workload> make(const lab::WorkerSpec& spec, const Json& point) {
  const auto definition = definition_from_json(spec.definition, "definition");
  const auto& provider = definition.provider(spec.provider);
  switch (provider.kind) {
    case ProviderSpec::Kind::kLibrary:
      return library_workload(provider.library, definition.problem, point, definition.sets);
    case ProviderSpec::Kind::kCommand:
      return command_workload(provider, spec.directory, definition.problem, point, definition.sets);
    case ProviderSpec::Kind::kBenchmark: {
      const auto words = point_words(point);
      std::vector<std::string> argv;
      for (const auto& word : provider.command) argv.push_back(with_words_replaced(word, words));
      return benchmark_workload(std::move(argv), with_words_replaced(provider.benchmark, words),
                                provider.run.directory, spec.directory);
    }
    case ProviderSpec::Kind::kPython:
      break;
  }
  throw lab::ProviderFailure(lab::Status::kFailed, "unknown_provider",
                             "a provider in Python is served by the Python worker");
}

}  // namespace

void add_workloads(lab::WorkloadRegistry& workloads) { workloads.serve_definitions(make); }

}  // namespace assay::cases::own
