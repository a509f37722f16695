// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rows into a store and out of it again.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/store/store.h"

namespace assay::lab {

struct Transfer {
  IngestReport report;
  std::vector<std::string> warnings;  // such as a journal's torn last line, which is left out
};

// Takes in the rows of journals, all in one transaction (see Store::ingest). UserError names path
// and line of what cannot be read.
Transfer ingest_journals(Store& store, const std::vector<std::string>& paths,
                         Patience patience = Patience::kAMinute);

// Takes in lines without their newlines; `name` says in messages where they came from.
IngestReport ingest_lines(Store& store, std::span<const std::string> lines, std::string_view name,
                          Patience patience = Patience::kAMinute);

// Takes in everything that another store has, in one transaction: all or nothing.
IngestReport merge_store(Store& into, Store& from);

// The journal of a run, byte for byte. Throws UserError when the store has no such run.
std::string export_run(Store& store, const std::string& run_id);

// Writes the journal of every run to FOLDER/RUN_ID.jsonl and returns the paths. A file that is
// there already is replaced only by a journal that continues it; other content is a UserError, as
// is a run_id that is no plain file name.
std::vector<std::string> export_all(Store& store, const std::string& folder);

// The journals of a folder, sorted by name. Throws UserError when it cannot be read or has none.
std::vector<std::string> journals_in(const std::string& folder);

}  // namespace assay::lab
