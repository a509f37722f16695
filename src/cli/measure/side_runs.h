// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Two builds measured beside each other: every provider under two labels, in the same rounds.

#include <string>
#include <utility>
#include <vector>

#include "cli/measure/run_setup.h"
#include "cli/measure/side_programs.h"

namespace assay::cli {

class SideRuns {
 public:
  // `first` and `second` are the labels.
  SideRuns(RunSetup& setup, std::string first, SideProgram a, std::string second, SideProgram b,
           std::string folder);

  // Measures and adds to the rows; `providers` without labels, empty: all that a worker of another
  // build can run. False: interrupted. The journal goes to the folder.
  bool measure(lab::RunRequest request, const std::vector<std::string>& providers);

  // All rows so far of each side, under their providers' own names: rounds pair by run and number.
  const std::vector<lab::Row>& first_rows() const { return rows_.first; }
  const std::vector<lab::Row>& second_rows() const { return rows_.second; }

 private:
  std::vector<std::string> default_providers(const lab::RunRequest& request) const;

  RunSetup& setup_;
  std::string first_, second_;
  SideProgram a_, b_;
  std::string folder_;
  std::pair<std::vector<lab::Row>, std::vector<lab::Row>> rows_;
};

}  // namespace assay::cli
