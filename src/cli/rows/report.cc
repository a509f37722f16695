// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/markdown/report.h"

#include "cli/commands.h"
#include "cli/program.h"
#include "cli/rows/selections.h"
#include "lab/beside/latest.h"
#include "lab/decide/exits.h"
#include "lab/store/source.h"

namespace assay::cli {

int report(const ReportArguments& a) {
  auto [rows, warnings] = lab::read_sources(sources_or_default(a.sources), reading_for(a.strict));
  print_warnings(warnings);
  if (a.latest) rows = lab::latest_rows(std::move(rows));
  put_text(a.out, lab::markdown_report(rows));
  return a.strict ? lab::coverage_of(lab::summarise(rows)).exit_status(true) : kFine;
}

}  // namespace assay::cli
