// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sources that are read again and again while something else writes them.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lab/record/row.h"

namespace assay::lab {

class LiveSource {
 public:
  // Nothing is read yet, and nothing need exist.
  explicit LiveSource(std::vector<std::string> sources) : sources_(std::move(sources)) {}

  // Reads the files that are new or have changed since the last call: journals of folders,
  // journals, stores. Returns whether rows or warnings are others than before. What cannot be read
  // is a warning, and what was read of it before stays. A torn last line is left out until it is
  // whole.
  bool refresh();

  // Each row once, whatever the number of files it is in.
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct File {
    std::string stamp;  // size and time of the file, and of the log beside a store
    std::vector<Row> rows;
    std::vector<std::string> warnings;
  };

  std::vector<std::string> sources_;
  std::map<std::string, File> files_;
  std::vector<Row> rows_;
  std::vector<std::string> warnings_;
  bool first_ = true;
};

}  // namespace assay::lab
