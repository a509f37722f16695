// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From rows to the one document that a page draws. Every number that someone might quote is made
// here or in lab/stats; the page's own code only places and formats them.

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "lab/beside/summary.h"
#include "lab/record/ceilings.h"
#include "lab/record/row.h"

namespace assay::lab {

struct SiteInput {
  std::string title = "Assay";
  std::vector<Row> rows;
  std::vector<std::string> warnings = {};         // what went wrong while the rows were read
  std::map<std::string, Ceilings> ceilings = {};  // by fingerprint, of the machines that have some
  CaseFactsByName cases = {};                     // for rows that do not name their baseline
  std::string commit_url = {};                    // see check_commit_url(); empty: no links
};

// An address with `{commit}` in it, where a commit can be looked at. Throws UserError unless it is
// one of http or https, of characters that addresses have.
void check_commit_url(const std::string& url);

// {title, warnings, caveats, runs, machines, cases, points, summaries, history, calibrations,
// pairs, commit_url, rows}; docs/site.md says what each holds. All text is printable() (see
// base/text.h); no text of a row is a key. The order of the rows does not matter. About 0.1 ms for
// each row.
Json site_data(SiteInput input);

}  // namespace assay::lab
