// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/measure/workload.h"

#include "base/error.h"

namespace assay::lab {

void WorkloadRegistry::add(std::string_view case_name, std::string_view provider, Factory factory) {
  const auto key = std::pair(std::string(case_name), std::string(provider));
  check(factories_.emplace(key, std::move(factory)).second,
        "a provider is added to a case at most once");
}

std::unique_ptr<Workload> WorkloadRegistry::make(std::string_view case_name,
                                                 std::string_view provider, const Json& point,
                                                 int cores) const {
  const auto it = factories_.find({std::string(case_name), std::string(provider)});
  if (it == factories_.end()) {
    throw ProviderFailure(
        Status::kFailed, "unknown_provider",
        fmt::format("this worker has no provider '{}' for case '{}'", provider, case_name));
  }
  return it->second(point, cores);
}

std::unique_ptr<Workload> WorkloadRegistry::make(const WorkerSpec& spec, const Json& point) const {
  if (spec.definition.is_null()) return make(spec.case_name, spec.provider, point, spec.cores);
  if (!defined_) {
    throw ProviderFailure(
        Status::kFailed, "unknown_provider",
        fmt::format("this worker serves no case that a file defines: '{}'", spec.case_name));
  }
  return defined_(spec, point);
}

}  // namespace assay::lab
