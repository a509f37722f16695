// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cases/own/definition.h"
#include "cases/own/oracle_process.h"
#include "lab/record/case.h"

namespace assay::cases::own {

// A case that somebody wrote down in a file, as the runner and the judge see every other.
struct OwnCase {
  std::unique_ptr<lab::Case> definition;
  std::string path;              // of the file, absolute
  std::vector<NamedFile> files;  // what it depends on, as it is now
  Json problem;                  // what is computed (problem_json)
  bool judged_by_code = false;   // of a function: its name is part of the problem, its code is not
};

// Reads the file. Throws UserError "FILE:LINE: KEY: …".
OwnCase read_own_case(const std::string& path, OraclePrograms programs);

// Whether a word in place of a case's name is the path of a case file: it has a slash, or ends in
// ".toml".
bool is_case_file(std::string_view word);

}  // namespace assay::cases::own
