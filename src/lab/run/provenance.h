// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/record/request.h"
#include "lab/record/row.h"

namespace assay::lab {

// What a program was built from.
struct SourceTree {
  std::string commit = "unknown";
  std::optional<std::string> branch;  // where that, or whether there were changes, is known
  std::optional<bool> dirty;
};

// The checkout that a folder is part of; "unknown" where it is in none.
SourceTree source_tree_at(const std::string& folder);

// HEAD of the checkout of Assay that the current folder is part of, if it is.
std::optional<std::string> checkout_here();

// What a run's cases in files are part of, by their names; nothing where the user says what is
// measured.
std::map<std::string, SourceTree> own_trees_of(const RunRequest& request);
bool measures_only_files(const RunRequest& request);
// Whose times a run takes: those of the program that the user says it is, of the user's own where
// there is nothing else, or of this one, which was built from `ours`.
SourceTree tree_of(const RunRequest& request, const SourceTree& ours);

// A run's name: UTC with microseconds, then seven letters and digits of the commit.
std::string make_run_id(std::int64_t unix_ns, const SourceTree& tree);

// What is the same for every row of a run: program, compiler, tree, environment that matters.
Provenance run_provenance(const SourceTree& tree, const std::string& program);

// Whoever stands in a checkout at another commit, or continues what another build began, may take a
// run's rows for something else: marks what all rows share (tree_commit), and returns the warnings.
// `rows` are those of earlier parts of the run.
std::vector<std::string> mark_other_sources(Provenance& shared, const RunRequest& request,
                                            std::span<const Row> rows);

// Throws UserError naming the option for a text that cannot be a commit's name.
void check_commit(const std::string& text, const std::string& option);

// This program's version, e.g. "0.1.0".
std::string version();

}  // namespace assay::lab
