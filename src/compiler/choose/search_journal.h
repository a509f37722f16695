// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a search knows of its candidates, on disk too: a line for each (base/checked_line.h), synced
// before the next one is begun. A process that is killed leaves whole lines and at most one torn
// one, which counts as never written; so does a line that was changed. Reading changes nothing; the
// first line that is added afterwards takes the place of those that count for nothing.

#include <cstdint>
#include <functional>
#include <string>

#include "base/json.h"

namespace assay::compiler {

class SearchJournal {
 public:
  // Reads what is there; "": nowhere. `takes` has the lines in their order, and says no to one that
  // makes no sense: that counts for nothing, too. Throws UserError that names a file that cannot be
  // read.
  SearchJournal(std::string path, const std::function<bool(const Json&)>& takes);

  // "FILE: line 3 was torn or changed, …", "" where all lines were taken.
  std::string warning() const;

  // Throws UserError that names a file that cannot be written.
  void add(const Json& line);

 private:
  void read(const std::string& text, const std::function<bool(const Json&)>& takes);

  std::string path_;
  std::string taken_;            // the lines, as they are in the file
  std::uintmax_t bytes_ = 0;     // of the file when it was read
  int refused_ = 0, first_ = 0;  // lines, and the first of them, from 1
  bool is_torn_ = false;         // the file, at its end
};

}  // namespace assay::compiler
