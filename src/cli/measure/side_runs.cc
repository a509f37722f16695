// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/side_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "lab/record/provider.h"

namespace assay::cli {

SideRuns::SideRuns(RunSetup& setup, std::string first, SideProgram a, std::string second,
                   SideProgram b, std::string folder)
    : setup_(setup),
      first_(std::move(first)),
      second_(std::move(second)),
      a_(std::move(a)),
      b_(std::move(b)),
      folder_(folder.empty() ? "results" : std::move(folder)) {}

std::vector<std::string> SideRuns::default_providers(const lab::RunRequest& request) const {
  const bool other_build = !a_.worker.empty() || !b_.worker.empty();
  std::vector<std::string> names;
  for (const auto& name : request.cases) {
    for (const auto& provider : setup_.cases().find(name).providers()) {
      const bool runs = provider.runtime == lab::Runtime::kNative || !other_build;
      if (!runs || provider.expected_status != lab::Status::kOk) continue;
      if (std::ranges::find(names, provider.id) == names.end()) names.push_back(provider.id);
    }
  }
  return names;
}

bool SideRuns::measure(lab::RunRequest request, const std::vector<std::string>& providers) {
  request.sides = {{first_, a_.worker, a_.commit, a_.dirty},
                   {second_, b_.worker, b_.commit, b_.dirty}};
  request.providers.clear();
  for (const auto& provider : providers.empty() ? default_providers(request) : providers) {
    if (provider.find('@') != std::string::npos) {
      fail("providers of two sides are named without a label: '{}'", provider);
    }
    for (const auto& label : {first_, second_}) request.providers.push_back(provider + "@" + label);
  }
  make_directories(folder_);
  const auto result = lab::start_run(setup_.context(), request, folder_);
  for (auto row : result.rows) {
    const std::string label(lab::side_of(row.provider));
    row.provider = lab::provider_of(row.provider);
    (label == first_ ? rows_.first : rows_.second).push_back(std::move(row));
  }
  setup_.progress().clear_line();
  setup_.progress().note(fmt::format("journal: {}", result.journal));
  return !result.interrupted;
}

}  // namespace assay::cli
