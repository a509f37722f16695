// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/run_tools.h"

#include <signal.h>

#include <algorithm>

#include "base/error.h"
#include "cases/einsum/workloads.h"
#include "cases/semiring/workloads.h"
#include "cli/installation.h"
#include "lab/measure/attempt.h"

namespace assay::cli {
namespace {

std::atomic<bool> stop_requested = false;

void on_interrupt(int) { stop_requested = true; }

}  // namespace

RunTools::RunTools() : cases(all_cases()) {
  cases::semiring::add_workloads(workloads);
  cases::einsum::add_workloads(workloads);
  context.cases = &cases;
  context.programs = find_programs();
  context.own_program = own_program();
  context.run_here = [this](const lab::WorkerSpec& spec) {
    lab::run_attempt_here(spec, workloads);
  };
  context.progress = &progress;
  context.stop = &stop_requested;
}

void RunTools::catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

std::vector<std::string> case_names(const lab::CaseRegistry& cases,
                                    const std::vector<std::string>& typed) {
  if (typed.empty()) fail("name at least one case, or `all` (see assay list)");
  std::vector<std::string> names;
  for (const auto& name : typed) {
    if (name == "all") {
      for (const auto& c : cases.all()) names.emplace_back(c->name());
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

}  // namespace assay::cli
