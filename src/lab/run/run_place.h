// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lab/record/request.h"
#include "lab/record/row.h"

namespace assay::lab {

// Where a run lives on disk: its journal, and beside it (`<journal>.request.json`) what was asked,
// written before the first attempt so that a run killed at any moment can be continued.
struct RunPlace {
  std::string run_id;
  std::string journal;
  RunRequest request;
  std::vector<Row> rows;  // those the journal already has
  bool torn = false;      // the journal's last line was incomplete and is ignored
};

// A new run. `out` is the journal's path, or a folder, or empty for the folder results/. Refuses a
// journal that already has rows. Writes the request.
RunPlace new_place(const RunRequest& request, const std::string& run_id, const std::string& out);

// An existing run, named by its journal's path or by its id under `folder` (empty: results/).
// Throws UserError when there is none, or nothing to continue it from.
RunPlace find_place(const std::string& run, const std::string& folder);

}  // namespace assay::lab
