// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lab/record/case.h"
#include "lab/record/request.h"

namespace assay::cli {

// Case files that were typed in place of cases' names, added to the cases of this program while it
// runs.
class OwnCases {
 public:
  explicit OwnCases(lab::CaseRegistry& cases) : cases_(cases) {}

  // What was typed, with the name of its case in place of each case file. Throws UserError for a
  // file that is wrong, and for one whose case has the name of another.
  std::vector<std::string> names(const std::vector<std::string>& typed);
  // The files behind these cases, for a request.
  std::vector<lab::RequestedFile> files_of(const std::vector<std::string>& names) const;
  // Adds the case files of a run that goes on. Throws UserError that names the file that has
  // changed since, or is gone.
  void add_again(const lab::RunRequest& request);

 private:
  const lab::RequestedFile& add(const std::string& path);

  lab::CaseRegistry& cases_;
  std::vector<lab::RequestedFile> files_;
};

}  // namespace assay::cli
