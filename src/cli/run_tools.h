// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every command that measures needs around it.

#include <atomic>
#include <string>
#include <vector>

#include "cli/progress.h"
#include "lab/measure/workload.h"
#include "lab/record/case.h"
#include "lab/run/runner.h"

namespace assay::cli {

// The cases, the workloads for attempts in this process, progress, and Ctrl-C. Its context refers
// to its members: it stays where it is.
class RunTools {
 public:
  RunTools();
  RunTools(const RunTools&) = delete;
  RunTools& operator=(const RunTools&) = delete;

  // From now on the first Ctrl-C ends the attempts under way and writes what is complete; the
  // default action is back for a second one.
  static void catch_interrupts();

  lab::CaseRegistry cases;
  lab::WorkloadRegistry workloads;
  TerminalProgress progress;
  lab::RunContext context;
};

// Names of cases as typed, `all` and repetitions resolved. Throws UserError for unknown ones, and
// when there is none.
std::vector<std::string> case_names(const lab::CaseRegistry& cases,
                                    const std::vector<std::string>& typed);

}  // namespace assay::cli
