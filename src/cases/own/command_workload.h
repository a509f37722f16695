// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "cases/own/problem.h"
#include "lab/measure/workload.h"

namespace assay::cases::own {

// A provider as a program: inputs are .npy files that it reads, outputs are those that it writes, a
// call is the whole process. `argv` has {name} where a parameter's value or a tensor's file goes;
// the program runs in `working_directory`, and the files are in `directory`, which exists. Throws
// lab::ProviderFailure: command_missing, exit_code, signal, no_output.
std::unique_ptr<lab::Workload> command_workload(const std::vector<std::string>& argv,
                                                const std::string& working_directory,
                                                const std::string& directory, Problem problem,
                                                Json point, const std::array<int, 3>& sets);

}  // namespace assay::cases::own
