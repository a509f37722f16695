// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// --executor and what belongs to it, as the lab has it.

#include <atomic>
#include <optional>
#include <vector>

#include "cli/arguments/arguments.h"
#include "lab/cluster/slurm_run.h"

namespace assay::cli {

// Where jobs go, if the run is to be made by any; asks the nodes what they are where a kind is
// pinned. Throws UserError for options that mean nothing without --executor slurm.
std::optional<lab::SlurmRunOptions> slurm_asked(const ExecutorArguments& a,
                                                const lab::RunContext& context);

// Each run once on each kind of node that the partition has, kinds of which no node works among
// them.
std::vector<RunArguments> on_each_kind(const RunArguments& typed,
                                       const std::vector<RunArguments>& runs,
                                       const std::atomic<bool>& stop);

}  // namespace assay::cli
