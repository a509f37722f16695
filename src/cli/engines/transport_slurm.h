// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments/arguments.h"

namespace assay::cli {

// Whether jobs of Slurm are to do it. Throws UserError for options that mean nothing without that.
bool is_for_slurm(const TransportArguments& arguments);

// Has the same command line run by the ranks of a job, and follows it; the same command again
// follows a job that is there, or goes on from its journals. Returns what the ranks returned.
int transport_on_slurm(const TransportArguments& arguments, char** argv);

}  // namespace assay::cli
