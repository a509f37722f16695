// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/side_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "lab/record/provider.h"

namespace assay::cli {

Sides sides_of(std::string first, const SideProgram& a, std::string second, const SideProgram& b) {
  Sides sides;
  sides.labelled = {{first, a.worker, a.commit, a.dirty}, {second, b.worker, b.commit, b.dirty}};
  sides.first = std::move(first);
  sides.second = std::move(second);
  sides.first_name = a.name;
  sides.second_name = b.name;
  return sides;
}

SideRuns::SideRuns(RunSetup& setup, Sides sides, std::string folder,
                   std::optional<lab::SlurmRunOptions> slurm)
    : setup_(setup),
      sides_(std::move(sides)),
      folder_(std::move(folder)),
      slurm_(std::move(slurm)) {}

std::vector<std::string> SideRuns::default_providers(const lab::RunRequest& request) const {
  const bool other_build = std::ranges::any_of(
      sides_.labelled, [](const lab::RunSide& side) { return !side.worker.empty(); });
  std::vector<std::string> names;
  const auto on_both_sides = [&](const std::string& case_name, const std::string& id) {
    return std::ranges::all_of(sides_.labelled, [&](const lab::RunSide& side) {
      const auto* const own = setup_.cases().of_side(side.label, case_name);
      if (own == nullptr) return true;
      return std::ranges::any_of(own->providers(),
                                 [&](const lab::Provider& p) { return p.id == id; });
    });
  };
  for (const auto& name : request.cases) {
    for (const auto& provider : setup_.cases().find(name).providers()) {
      const bool runs = provider.runtime == lab::Runtime::kNative || !other_build;
      if (!runs || provider.expected_status != lab::Status::kOk) continue;
      if (!on_both_sides(name, provider.id)) continue;
      if (std::ranges::find(names, provider.id) == names.end()) names.push_back(provider.id);
    }
  }
  return names;
}

void SideRuns::set_providers(lab::RunRequest& request,
                             const std::vector<std::string>& providers) const {
  if (sides_.labelled.empty()) {
    request.providers = {sides_.first, sides_.second};
    return;
  }
  request.sides = sides_.labelled;
  request.providers.clear();
  for (const auto& provider : providers.empty() ? default_providers(request) : providers) {
    if (provider.find('@') != std::string::npos) {
      fail("providers of two sides are named without a label: '{}'", provider);
    }
    for (const auto& label : {sides_.first, sides_.second}) {
      request.providers.push_back(provider + "@" + label);
    }
  }
  if (request.providers.empty()) fail("no provider is on both sides");
}

bool SideRuns::measure(lab::RunRequest request, const std::vector<std::string>& providers) {
  set_providers(request, providers);
  make_directories(folder_);
  const auto result = slurm_ ? lab::start_slurm_run(setup_.context(), request, folder_, *slurm_)
                             : lab::start_run(setup_.context(), request, folder_);
  for (auto row : result.rows) {
    const bool is_labelled = !sides_.labelled.empty();
    const std::string side(is_labelled ? lab::side_of(row.provider) : row.provider);
    row.provider = is_labelled ? lab::provider_of(row.provider) : sides_.provider;
    (side == sides_.first ? rows_.first : rows_.second).push_back(std::move(row));
  }
  setup_.progress().clear_line();
  setup_.progress().note(fmt::format("journal: {}", result.journal));
  return !result.interrupted;
}

}  // namespace assay::cli
