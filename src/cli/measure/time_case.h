// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What `assay time` was told, as a case file: commands are its providers, and from there on it is
// measured like any other.

#include <map>
#include <string>
#include <vector>

#include "cli/arguments/arguments.h"

namespace assay::cli {

struct TimedCommand {
  std::string id;     // of the provider: what a command is called, fit for a name
  std::string shown;  // its label, or its text
  std::string name;   // the same, or the id where another is shown alike
  std::string text;   // as it is run, where it stands for one value of each parameter
  std::map<std::string, std::string> parameters;  // likewise
};

struct TimedCase {
  std::vector<TimedCommand> commands;
  std::string baseline;  // id
  // VARs whose values are points: where there are several commands, each value compares them.
  std::vector<std::string> point_parameters;
  std::string toml;
};

// Everything that can be wrong is a UserError that names the option. `directory` is where the
// commands run.
TimedCase timed_case(const TimeArguments& arguments, const std::string& directory);

}  // namespace assay::cli
