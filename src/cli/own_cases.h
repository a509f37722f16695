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

  // Another version of a case that was added: `path` says how side `label` computes it. Throws
  // UserError where that file does not pose the same problem, with what differs.
  lab::RequestedFile add_side(const std::string& label, const std::string& case_name,
                              const std::string& path);
  // The oracle of the case itself judges both sides: a change must not bring the judge that lets it
  // pass. Throws UserError where the side's own oracle fails at a point of the request, or gives
  // another answer: then somebody must say which of them is right.
  void check_oracle_of_side(const std::string& label, const std::string& case_name,
                            const lab::RunRequest& request) const;

 private:
  struct Known {
    lab::RequestedFile file;
    Json problem;
    bool judged_by_code;
  };
  const lab::RequestedFile& add(const std::string& path);
  const Known& known(const std::string& case_name) const;

  lab::CaseRegistry& cases_;
  std::vector<Known> known_;
};

}  // namespace assay::cli
