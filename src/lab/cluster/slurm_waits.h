// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is said while Slurm lets one wait.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/cluster/slurm.h"

namespace assay::lab {

// Jobs that wait for what time alone does not bring: Slurm takes jobs that it will never start.
class SlurmWaits {
 public:
  // A sentence about the first of them, with what can be done about it, where that is news: each of
  // Slurm's reasons is told again after ten minutes and no sooner.
  std::optional<std::string> news(const std::vector<SlurmJob>& jobs, std::int64_t now_ns);

 private:
  std::map<std::string, std::int64_t> told_;  // when, by reason
};

// What is said of a program that was interrupted and waits until Slurm answers, because jobs are to
// be cancelled.
std::string unanswered_end();

}  // namespace assay::lab
