// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/record/journal.h"
#include "lab/record/request.h"
#include "lab/record/row.h"

namespace assay::lab {

// Where a run lives on disk: its journal, and beside it (`<journal>.request.json`) what was asked,
// written before the first attempt so that a run killed at any moment can be continued, and never
// replaced. Two runners may want the same place at the same time: each takes the journal's lock
// before it reads or writes anything there, so that what it knows stays true.
struct RunPlace {
  std::string run_id;
  std::string journal;
  RunRequest request;
  std::vector<Row> rows;                // of this run that the journal already has
  std::size_t of_others = 0;            // rows of other runs there, which are left alone
  bool torn = false;                    // the journal's last line was incomplete and is ignored
  std::optional<JournalWriter> writer;  // holds the lock; nothing where the run is only looked at
};

// A new run. `out` is the journal's path, or a folder, or empty for the folder results/. Refuses a
// place where another run writes or was begun, and changes nothing there. Writes the request.
RunPlace new_place(const RunRequest& request, const std::string& run_id, const std::string& out);

// An existing run to be continued, named by its journal's path or by its id under `folder` (empty:
// results/). Throws UserError when there is none, when another runner is at it, when its journal is
// damaged, or when there is nothing to continue it from.
RunPlace find_place(const std::string& run, const std::string& folder);
// The same without the lock, for a look at what it was asked for.
RunPlace look_at_place(const std::string& run, const std::string& folder);

}  // namespace assay::lab
