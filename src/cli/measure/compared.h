// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What OLD and NEW are, of `compare --run OLD NEW` and `gate --run`.

#include <string>
#include <vector>

#include "cli/measure/side_runs.h"
#include "lab/record/request.h"

namespace assay::cli {

struct ComparedWords {
  std::string old, now;            // as typed; `now` empty: this build
  std::vector<std::string> cases;  // what was typed beside them
  std::string filter;              // of benchmarks
  std::string build;               // of revisions of Assay
  std::string folder;              // of the journal, and of case files that are written
};

// The first that fits both words:
//   two folders, and the case file that both hold (or folders with an assay-worker, and cases)
//   two case files
//   with cases: two workers, files or git revisions (side_program)
//   two Google Benchmark programs
//   two programs or command lines, timed as whole processes
// The cases are put into the request, and where the sides need them, case files and settings.
// Throws UserError where the words are of two kinds, or of none.
Sides compared_sides(RunSetup& setup, const ComparedWords& words, lab::RunRequest& request);

// For two case files: their oracles must agree at the points of the request (own_cases.h).
void check_oracles(RunSetup& setup, const Sides& sides, const lab::RunRequest& request);

}  // namespace assay::cli
