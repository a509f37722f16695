// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// --parameter-scan and --parameter-list: what {VAR} stands for in commands.

#include <map>
#include <string>
#include <vector>

#include "cli/arguments/arguments.h"

namespace assay::cli {

struct Variable {
  std::string name;
  std::vector<std::string> values;
};
using Values = std::map<std::string, std::string>;  // by the variable's name

// Those that were typed. Throws UserError that names the option, also for one that no command has.
std::vector<Variable> variables_of(const TimeArguments& arguments);

// All choices of one value of each variable; the last changes fastest. Throws UserError where they
// are too many.
std::vector<Values> choices_of(const std::vector<Variable>& variables);

}  // namespace assay::cli
