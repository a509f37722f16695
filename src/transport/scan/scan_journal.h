// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "transport/solve.h"

namespace assay::transport {

// Everything that a scan's numbers depend on, by name: grid, method, form of the system; fields on
// the grid and cases in order as hashes.
Json scan_settings(const Prepared& prepared, std::span<const Case> cases, Method method);

// Finished cases of a scan in a file that survives a kill at any moment: one line each, with its
// own check sum, so that a torn tail is recognised and left out.
class ScanJournal {
 public:
  // Opens or creates the file. Throws UserError that names the path when it cannot be used, is no
  // journal, belongs to another scan (naming the settings that differ), or is in use by another
  // process; the file is left as it was then.
  ScanJournal(const std::string& path, const Json& settings);

  // What the file held when it was opened, by index.
  std::map<std::size_t, Solution> take_finished() { return std::move(finished_); }
  // The case survives a kill from here on; about once a second everything is also synced.
  void append(std::size_t index, const Solution& solution);
  // Makes sure that everything appended survives a power cut.
  void sync();

 private:
  std::string path_;
  UniqueFd fd_;
  std::int64_t synced_ns_ = 0;
  std::map<std::size_t, Solution> finished_;
};

}  // namespace assay::transport
