// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/status.h"

#include <array>
#include <utility>

#include "base/error.h"

namespace assay::lab {
namespace {

constexpr std::array<std::pair<Status, std::string_view>, 10> kNames = {{
    {Status::kOk, "ok"},
    {Status::kWrongResult, "wrong_result"},
    {Status::kSkipped, "skipped"},
    {Status::kEnvMissing, "env_missing"},
    {Status::kOutOfMemory, "out_of_memory"},
    {Status::kTimeout, "timeout"},
    {Status::kCrashed, "crashed"},
    {Status::kFailed, "failed"},
    {Status::kExcluded, "excluded"},
    {Status::kInterrupted, "interrupted"},
}};

}  // namespace

std::string_view name_of(Status status) {
  for (const auto& [value, name] : kNames) {
    if (value == status) return name;
  }
  throw InternalError("every status has a name");
}

Status status_from_name(std::string_view name, std::string_view what) {
  for (const auto& [value, text] : kNames) {
    if (text == name) return value;
  }
  fail("{}: unknown status '{}'", what, name);
}

}  // namespace assay::lab
