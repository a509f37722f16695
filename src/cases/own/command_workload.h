// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>

#include "cases/own/case_file.h"
#include "lab/measure/workload.h"

namespace assay::cases::own {

// What a time becomes, in seconds, of which nothing is left when the start of its shell is taken
// off.
inline constexpr double kNothingLeft = 1e-6;

// Where a command has a check: how many checks of its last run failed (0 or 1), and in the file's
// metadata what the check said.
inline constexpr const char* kCheckOutput = "check";
inline constexpr const char* kCheckSaid = "check_said";

// A provider as a program: inputs are .npy files that it reads, outputs are those that it writes, a
// call is the whole process by the launcher's clock (launcher.h). Without inputs every call is a
// sample by itself. Files are in `directory`, which exists.
//
// The shell of a command is timed with nothing to do, in the same attempt, and its time taken off
// the command's; what is left is never less than a microsecond. Metric `shell_time`.
//
// Throws lab::ProviderFailure: command_missing, exit_code, signal, no_output, input_changed, and
// where a hook does not end well prepare_failed, conclude_failed, setup_failed, cleanup_failed.
std::unique_ptr<lab::Workload> command_workload(const ProviderSpec& provider,
                                                const std::string& directory, Problem problem,
                                                Json point, const std::array<int, 3>& sets);

}  // namespace assay::cases::own
