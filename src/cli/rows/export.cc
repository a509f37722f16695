// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/program.h"
#include "lab/beside/latest.h"
#include "lab/show/exchange/csv.h"
#include "lab/show/exchange/junit.h"
#include "lab/show/exchange/schedule_trace.h"
#include "lab/store/source.h"

namespace assay::cli {
namespace {

// The rows of the one run whose id begins like this.
std::vector<lab::Row> rows_of_run(std::vector<lab::Row> rows, const std::string& run) {
  std::erase_if(rows, [&](const lab::Row& row) { return !row.run_id.starts_with(run); });
  std::set<std::string> runs;
  for (const auto& row : rows) runs.insert(row.run_id);
  if (runs.empty()) fail("--run: no run id begins like this: '{}'", run);
  if (runs.size() > 1) {
    fail("--run: {} run ids begin like this, {} and {} among them: '{}'", runs.size(),
         *runs.begin(), *runs.rbegin(), run);
  }
  return rows;
}

std::string render(const std::vector<lab::Row>& rows, const std::string& format) {
  if (format == "csv") return lab::rows_to_csv(rows);
  if (format == "trace") return canonical_json(lab::schedule_trace(rows)) + "\n";
  check(format == "junit", "every format has a writer");
  return lab::junit_xml("assay", lab::summary_tests(lab::summarise(rows)));
}

}  // namespace

int export_rows(const ExportArguments& a) {
  auto [rows, warnings] = lab::read_sources(sources_or_default(a.sources));
  print_warnings(warnings);
  if (!a.run.empty()) rows = rows_of_run(std::move(rows), a.run);
  if (a.latest) rows = lab::latest_rows(std::move(rows));
  put_text(a.out, render(rows, a.format));
  return kFine;
}

}  // namespace assay::cli
