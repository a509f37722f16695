// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/view/report.h"

#include <cstdio>

#include "base/file.h"
#include "cli/commands.h"
#include "lab/store/latest.h"
#include "lab/store/source.h"

namespace assay::cli {

int report(const ReportArguments& a) {
  const std::vector<std::string> sources =
      a.sources.empty() ? std::vector<std::string>{"results"} : a.sources;
  auto [rows, warnings] = lab::read_sources(sources);
  for (const auto& warning : warnings) std::fputs(("warning: " + warning + "\n").c_str(), stderr);
  if (a.latest) rows = lab::latest_rows(std::move(rows));
  const auto text = lab::markdown_report(rows);
  if (a.out.empty()) {
    std::fputs(text.c_str(), stdout);
  } else {
    write_file_atomically(a.out, text);
  }
  return kFine;
}

}  // namespace assay::cli
