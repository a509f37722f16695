// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lab/beside/summary.h"

namespace assay::lab {

struct ReportOptions {
  std::string title = "Assay report";
  std::vector<std::string> warnings = {};  // what went wrong while the rows were read
  CaseFactsByName cases = {};              // for rows that do not name their baseline
};

// A markdown document about rows: what was run, where, how it came out, what failed and why, what
// to keep in mind, how to do it again. A function of its arguments alone; the order of the rows
// does not matter. Whatever the rows hold, it can form no markup (see markdown.h).
std::string markdown_report(std::span<const Row> rows, const ReportOptions& options = {});

}  // namespace assay::lab
