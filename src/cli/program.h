// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What our programs have in common, whatever commands they serve.

#include <functional>
#include <string>
#include <vector>

#include "cli/arguments/arguments.h"

namespace assay::cli {

// Reads the command line, has `serve` do what it says, and returns the exit status. What is thrown
// becomes one line on standard error and the status that belongs to it (commands.h). `as_typed`, if
// there is one: see parse_arguments().
int run_program(int argc, char** argv, const std::function<int(const Command&)>& serve,
                const std::function<std::string(const std::string&)>& as_typed = {});

// "assay 1.2.3 (commit …)".
std::string version_line();

// What was typed, or results/.
std::vector<std::string> sources_or_default(const std::vector<std::string>& sources);

// A line each, on standard error.
void print_warnings(const std::vector<std::string>& warnings);

// On standard output, as it is.
void print(const std::string& text);

// A command's text: into the file `out`, or where that is empty to standard output.
void put_text(const std::string& out, const std::string& text);

}  // namespace assay::cli
