// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Right answers, computed in a process of their own under limits: code that somebody wrote to judge
// others may crash, hang or eat the memory like theirs.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "cases/own/case_file.h"

namespace assay::cases::own {

// What can be started here. Found by the command line.
struct OraclePrograms {
  std::string worker;          // assay-worker
  std::string python_package;  // the folder that holds assay_worker/
  // The interpreter that has these modules. Throws UserError when there is none.
  std::function<std::string(const std::string& provider, const std::vector<std::string>& modules)>
      python;
};

// Some rows of an output, or all of them, row-major (lab::Expectation).
struct OracleValue {
  std::vector<double> values;
  std::vector<std::int64_t> integers;  // of integer outputs
};
using OracleValues = std::map<std::string, OracleValue>;

// The outputs that the file's oracle gives for input set `set`: of each the rows asked for, which
// are all where the list is empty. `definition` is the case's (definition.h). Throws UserError that
// names the file and says what went wrong, in one line.
OracleValues oracle_values(const CaseFile& file, const Json& definition, const Json& point, int set,
                           const std::map<std::string, std::vector<std::int64_t>>& rows,
                           const OraclePrograms& programs);

}  // namespace assay::cases::own
