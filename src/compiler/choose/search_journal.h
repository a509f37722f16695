// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a search knows of its candidates, on disk too: a line for each, synced before the next one
// is begun. A process that is killed leaves whole lines and at most one torn one, which counts as
// never written; so does anything else that is no JSON object. Reading changes nothing.

#include <string>
#include <vector>

#include "base/json.h"

namespace assay::compiler {

class SearchJournal {
 public:
  // Reads what is there; "": nowhere. Throws UserError that names a file that cannot be read.
  explicit SearchJournal(std::string path);
  const std::vector<Json>& lines() const { return lines_; }
  // Throws UserError that names a file that cannot be written.
  void add(Json line);

 private:
  std::string path_;
  std::vector<Json> lines_;
  bool is_torn_ = false;  // the file, at its end
};

}  // namespace assay::compiler
