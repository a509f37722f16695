// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Two things measured beside each other, in the same rounds.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/measure/run_setup.h"
#include "cli/measure/side_programs.h"
#include "lab/cluster/slurm_run.h"

namespace assay::cli {

// What stands beside what: every provider under two labels, or two providers of one case.
struct Sides {
  std::string first, second;            // the labels, or the two providers
  std::string first_name, second_name;  // for people
  std::vector<lab::RunSide> labelled;   // both sides; empty: two providers
  std::string provider;                 // the name that two providers share in what is decided
  std::vector<std::string> dropped;     // what only the first has
};

// Two builds of the worker.
Sides sides_of(std::string first, const SideProgram& a, std::string second, const SideProgram& b);

class SideRuns {
 public:
  // `slurm`: where jobs make the runs; nothing: they are made here.
  SideRuns(RunSetup& setup, Sides sides, std::string folder,
           std::optional<lab::SlurmRunOptions> slurm = {});

  // Measures and adds to the rows; `providers` without labels, empty: all that both sides can run.
  // Where the sides are two providers they run, whatever is asked for. False: interrupted. The
  // journal goes to the folder.
  bool measure(lab::RunRequest request, const std::vector<std::string>& providers);

  // All rows so far of each side, under names that both share: rounds pair by run and number.
  const std::vector<lab::Row>& first_rows() const { return rows_.first; }
  const std::vector<lab::Row>& second_rows() const { return rows_.second; }

 private:
  std::vector<std::string> default_providers(const lab::RunRequest& request) const;
  void set_providers(lab::RunRequest& request, const std::vector<std::string>& providers) const;

  RunSetup& setup_;
  Sides sides_;
  std::string folder_;
  std::optional<lab::SlurmRunOptions> slurm_;
  std::pair<std::vector<lab::Row>, std::vector<lab::Row>> rows_;
};

}  // namespace assay::cli
