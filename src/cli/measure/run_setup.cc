// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/run_setup.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/units.h"
#include "cases/harness/cases.h"
#include "cli/build_commit.h"
#include "cli/end_signals.h"
#include "cli/installation.h"
#include "cli/workloads.h"
#include "lab/measure/attempt.h"

namespace assay::cli {
namespace {

std::atomic<bool> stop_requested = false;

}  // namespace

RunSetup::RunSetup() : cases_(all_cases()), workloads_(all_workloads()) {
  context_.cases = &cases_;
  context_.programs = find_programs();
  context_.own_program = own_program();
  context_.built_from = {kBuildCommit.commit, kBuildCommit.branch, kBuildCommit.dirty};
  context_.run_here = [this](const lab::WorkerSpec& spec) {
    lab::run_attempt_here(spec, workloads_);
  };
  context_.progress = &progress_;
  context_.stop = &stop_requested;
}

void RunSetup::stop() { stop_requested = true; }

const std::atomic<bool>& RunSetup::catch_interrupts() {
  catch_end_signals(stop_requested);
  return stop_requested;
}

void apply(const MeasureArguments& a, lab::RunRequest& request) {
  if (a.rounds) request.rounds = *a.rounds;
  if (a.cores) request.cores = *a.cores;
  if (a.steady) request.settings.steady_s = parse_duration_s(*a.steady, "--steady");
  if (a.max_steal) request.max_steal = parse_share(*a.max_steal, "--max-steal");
  if (a.max_foreign) request.max_foreign = parse_share(*a.max_foreign, "--max-foreign");
  if (a.budget) {
    request.budget_s = parse_duration_s(*a.budget, "--budget");
    if (!(request.budget_s > 0)) fail("--budget must be more than 0, got '{}'", *a.budget);
  }
}

void select_cases(lab::RunRequest& request, RunSetup& setup,
                  const std::vector<std::string>& typed) {
  request.cases = case_names(setup.cases(), setup.own_cases().names(typed));
  request.case_files = setup.own_cases().files_of(request.cases);
}

std::vector<std::string> case_names(const lab::CaseRegistry& cases,
                                    const std::vector<std::string>& typed) {
  if (typed.empty()) fail("name at least one case, or `all` (see assay list)");
  std::vector<std::string> names;
  for (const auto& name : typed) {
    if (name == "all") {
      for (const auto& c : cases.all()) {
        if (c->suite() != cases::harness::kSuite) names.emplace_back(c->name());
      }
    } else {
      names.emplace_back(cases.find(name).name());
    }
  }
  std::vector<std::string> unique;
  for (auto& name : names) {
    if (std::ranges::find(unique, name) == unique.end()) unique.push_back(std::move(name));
  }
  return unique;
}

void select_points(lab::RunRequest& request, bool quick, const std::string& points) {
  if (quick) {
    const auto usual = lab::default_request(true);
    request.mode = usual.mode;
    request.settings = usual.settings;
  }
  if (points == "all") {
    if (quick) fail("--quick and --points all exclude each other");
    request.mode = "all";
  } else if (!points.empty()) {
    request.mode = "points";
    const bool in_file = points.starts_with('@');
    request.points = parse_json(in_file ? read_input_file(points.substr(1)) : points, "--points");
  }
}

}  // namespace assay::cli
