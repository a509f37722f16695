// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lab/measure/workload.h"
#include "lab/record/case.h"
#include "lab/run/environment.h"

namespace assay::cli {

// The path of the running executable.
std::string own_program();

// Our other programs, found relative to this one: beside it in a build tree, under libexec and
// share in an installation.
lab::Programs find_programs();

// Whether this build has another one of our programs.
bool has_program(const std::string& name);

// Becomes another one of our programs, found the same way, with our own command line. Throws
// EnvironmentError where that cannot be done.
[[noreturn]] void become_program(const std::string& name, char** argv);

// The folder that holds assay/workload.h, found the same way.
std::string include_folder();

// Every case this program was built with.
lab::CaseRegistry all_cases();

}  // namespace assay::cli
