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

}  // namespace assay::lab
