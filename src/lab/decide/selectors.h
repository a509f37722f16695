// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What "A" means in `assay compare A B`: a provider, a run, a commit, or a source.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/record/row.h"

namespace assay::lab {

enum class SelectorKind { kProvider, kRun, kCommit, kSource };

struct Selector {
  SelectorKind kind = SelectorKind::kSource;
  std::string value;  // the provider's name, the full run id, the full commit, the source's path
  std::string name;  // for people: "provider simd", "run 2026…", "commit abc1234", "results/a.db"
};

// Finds out what the text means among these rows: the name of a provider, a run's id or the unique
// beginning of one, a commit or the unique beginning of one (at least four characters), or a source
// as `is_source` says. "provider:", "run:", "commit:" and "source:" before it say which.
// Unknown and ambiguous texts are a UserError that names the text and what it could be.
Selector resolve_selector(std::string_view text, std::span<const Row> rows,
                          const std::function<bool(const std::string&)>& is_source);

// The rows that a provider, run or commit selects. (Those of a source are for the caller to read.)
std::vector<Row> selected_rows(const Selector& selector, std::span<const Row> rows);

// Rows of two providers that are worth comparing: at each point, of the newest run in which both
// were attempted, so that rounds pair and old code stays out; where there is no such run, of the
// newest run of each. Drops rows of `a` and `b` in place.
void keep_newest_shared_runs(std::vector<Row>& a, std::vector<Row>& b);

}  // namespace assay::lab
