// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/record/journal.h"
#include "lab/record/request.h"
#include "lab/record/row.h"

namespace assay::lab {

// A part of a run that goes to one node of a cluster: a place of its own, whose record says of
// which run it is a part, which points it has, and what whoever makes its attempts must be.
struct RunShare {
  struct Point {
    std::string case_name;
    Json point;
  };
  std::vector<Point> points;
  std::string of;                             // the journal of the run
  std::string version;                        // of the program
  std::map<std::string, std::string> sha256;  // of our programs, by what they are
  std::string machine;                        // fingerprint; empty: any
};

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
  std::optional<RunShare> share;        // of a part of a run
  std::optional<JournalWriter> writer;  // holds the lock; nothing where the run is only looked at
};

// Where the request of a journal's run is, and the record of a share.
std::string request_path(const std::string& journal);

// A new run. `out` is the journal's path, or a folder, or empty for the folder results/. Refuses a
// place where another run writes or was begun, and changes nothing there. Writes the request, after
// `before` with the journal's path has written what must be there whenever the request is.
RunPlace new_place(const RunRequest& request, const std::string& run_id, const std::string& out,
                   const std::function<void(const std::string&)>& before = {});

// An existing run to be continued, named by its journal's path or by its id under `folder` (empty:
// results/). Throws UserError when there is none, when another runner is at it, when its journal is
// damaged, or when there is nothing to continue it from. A share may still be held by the one who
// had it before, on a node that was given up: `wait` is then asked as JournalWriter does.
RunPlace find_place(const std::string& run, const std::string& folder,
                    const std::function<bool()>& wait = {});
// The same without the lock, for a look at what it was asked for.
RunPlace look_at_place(const std::string& run, const std::string& folder);

// Writes the record of a share, whose place is then to be found by its journal's path, and what of
// its rows is known already.
void write_share(const std::string& journal, const std::string& run_id, const RunShare& share,
                 std::span<const Row> rows);
// Takes a share's record away: nobody can continue it any more.
void close_share(const std::string& journal);
// What a share's record says; nothing where there is none.
std::optional<RunShare> read_share(const std::string& journal);

}  // namespace assay::lab
