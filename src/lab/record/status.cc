// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/status.h"

#include "base/names.h"

namespace assay::lab {
namespace {

constexpr auto kStatusNames = make_names<Status>({{Status::kOk, "ok"},
                                                  {Status::kWrongResult, "wrong_result"},
                                                  {Status::kSkipped, "skipped"},
                                                  {Status::kEnvMissing, "env_missing"},
                                                  {Status::kOutOfMemory, "out_of_memory"},
                                                  {Status::kTimeout, "timeout"},
                                                  {Status::kCrashed, "crashed"},
                                                  {Status::kFailed, "failed"},
                                                  {Status::kExcluded, "excluded"},
                                                  {Status::kInterrupted, "interrupted"}});

}  // namespace

std::string_view name_of(Status status) { return kStatusNames[status]; }

std::optional<Status> find_status(std::string_view name) { return kStatusNames.find(name); }

Status status_from_name(std::string_view name, std::string_view what) {
  const auto status = find_status(name);
  if (!status) fail("{}: unknown status '{}'", what, name);
  return *status;
}

}  // namespace assay::lab
