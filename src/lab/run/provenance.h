// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lab/record/row_parts.h"

namespace assay::lab {

// The source tree that is being measured: the git repository of the current folder.
struct SourceTree {
  std::string commit;        // "unknown" outside a repository
  std::string short_commit;  // seven digits, or "nogit"
  std::string branch;
  bool dirty = false;
};

SourceTree read_source_tree();

// A run's name: UTC with microseconds, then the commit.
std::string make_run_id(std::int64_t unix_ns, const SourceTree& tree);

// What is the same for every row of a run: program, compiler, tree, environment that matters.
Provenance run_provenance(const SourceTree& tree, const std::string& program);

// This program's version, e.g. "0.1.0".
std::string version();

}  // namespace assay::lab
