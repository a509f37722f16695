// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/history.h"

#include <cstdio>

#include "base/error.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/measure/history_confirm.h"
#include "cli/rows/selections.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

lab::HistoryOptions options_of(const HistoryArguments& a) {
  lab::HistoryOptions options;
  options.case_name = a.case_name;
  if (!a.provider.empty()) options.provider = a.provider;
  if (!a.point.empty()) {
    options.point = parse_json(a.point, "--point");
    if (!options.point->is_object()) fail("--point: expected a JSON object, got '{}'", a.point);
  }
  options.metric = a.metric;
  return options;
}

}  // namespace

int history(const HistoryArguments& a) {
  const auto options = options_of(a);
  const auto series = lab::history(read_rows(a.sources), options);
  if (series.empty()) fail("no rows of this case and selection: '{}'", a.case_name);
  if (a.confirm) return confirm_change(a, series);
  const auto json = pretty_json(lab::history_json(series, options)) + "\n";
  if (!a.out.empty()) write_file_atomically(a.out, json);
  std::fputs(a.json ? json.c_str() : lab::history_table(series, options, stdout_style()).c_str(),
             stdout);
  return kFine;
}

}  // namespace assay::cli
