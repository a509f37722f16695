// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "base/file.h"
#include "transport/solve.h"

namespace assay::transport {

// Names a scan by everything its numbers depend on: fields on the grid, cases in order, method.
std::string scan_identity(const Prepared& prepared, std::span<const Case> cases, Method method);

// Finished cases of a scan in a file that survives a kill at any moment: one line each, with its
// own check sum, so that a torn tail is recognised and left out.
class ScanJournal {
 public:
  // Opens or creates the file. Throws UserError that names the path when it cannot be used, belongs
  // to another scan, or is in use by another process.
  ScanJournal(const std::string& path, const std::string& identity);

  // What the file held when it was opened, by index.
  std::map<std::size_t, Solution> take_finished() { return std::move(finished_); }
  void append(std::size_t index, const Solution& solution);
  // Makes sure that everything appended survives a power cut.
  void sync();

 private:
  std::string path_;
  UniqueFd fd_;
  std::map<std::size_t, Solution> finished_;
};

}  // namespace assay::transport
