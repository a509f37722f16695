// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every command that measures has in common.

#include <atomic>
#include <string>

#include "cli/arguments/arguments.h"
#include "cli/measure/progress.h"
#include "cli/own_cases.h"
#include "lab/measure/workload.h"
#include "lab/run/runner.h"

namespace assay::cli {

// Cases, workers and progress of this program, ready for lab::start_run(). Ctrl-C ends the attempts
// under way and writes what is complete; a second one ends the program.
class RunSetup {
 public:
  RunSetup();
  RunSetup(const RunSetup&) = delete;
  RunSetup& operator=(const RunSetup&) = delete;

  lab::RunContext& context() { return context_; }
  const lab::CaseRegistry& cases() const { return cases_; }
  OwnCases& own_cases() { return own_cases_; }
  TerminalProgress& progress() { return progress_; }
  // Ends the run as Ctrl-C does.
  static void stop();
  // From here on Ctrl-C and SIGTERM are caught, and this becomes true with them.
  static const std::atomic<bool>& catch_interrupts();

 private:
  lab::CaseRegistry cases_;
  OwnCases own_cases_{cases_};
  lab::WorkloadRegistry workloads_;
  TerminalProgress progress_;
  lab::RunContext context_;
};

// Puts what was typed into a request, in place of what the command had put there. Throws UserError
// naming the option that makes no sense.
void apply(const MeasureArguments& arguments, lab::RunRequest& request);

// Puts cases as typed into a request, those of case files among them: see case_names().
void select_cases(lab::RunRequest& request, RunSetup& setup, const std::vector<std::string>& typed);

// Names of cases as typed, repetitions removed; `all` is every case but those that try the lab
// itself. Throws UserError for unknown ones, and when there is none.
std::vector<std::string> case_names(const lab::CaseRegistry& cases,
                                    const std::vector<std::string>& typed);

// What --quick and --points say: which points, and with --quick how short their attempts are.
// Throws UserError when they contradict each other.
void select_points(lab::RunRequest& request, bool quick, const std::string& points);

}  // namespace assay::cli
