// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments/arguments.h"
#include "lab/cluster/slurm.h"

namespace assay::cli {

// Throws UserError for options that mean nothing without --executor slurm.
void check_executor(const ExecutorArguments& a);

// What was typed, as sbatch will be told. Throws UserError naming the option that makes no sense.
lab::SlurmOptions slurm_options(const ExecutorArguments& a);

}  // namespace assay::cli
