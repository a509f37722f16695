// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/workloads.h"

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
      return command_workload(provider.command, definition.folder(), spec.directory,
                              definition.problem, point, definition.sets);
    case ProviderSpec::Kind::kPython:
      break;
  }
  throw lab::ProviderFailure(lab::Status::kFailed, "unknown_provider",
                             "a provider in Python is served by the Python worker");
}

}  // namespace

void add_workloads(lab::WorkloadRegistry& workloads) { workloads.serve_definitions(make); }

}  // namespace assay::cases::own
