// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/bars.h"

#include "base/error.h"
#include "base/input_file.h"
#include "cli/commands.h"
#include "cli/program.h"
#include "cli/rows/selections.h"
#include "cli/terminal.h"
#include "lab/beside/latest.h"

namespace assay::cli {
namespace {

int status_of(const lab::BarOutcome& outcome) {
  using enum lab::BarVerdict;
  if (outcome.any(kWrong)) return kWrongResults;
  if (outcome.any(kMissed)) return kRegression;
  return outcome.any(kOpen) || outcome.any(kNotMeasured) ? kUnresolved : kFine;
}

}  // namespace

int bars(const BarsArguments& a) {
  if (a.json && a.markdown) fail("--json and --markdown: one of them");
  const auto file = lab::parse_bars(read_input_file(a.file), a.file);
  auto rows = read_rows(a.sources);
  if (a.latest) rows = lab::latest_rows(std::move(rows));
  if (rows.empty()) fail("there are no rows to hold to '{}'", a.file);
  const auto outcome = lab::hold_to_bars(file, rows);
  auto style = stdout_style();
  style.all = a.all;
  put_text(a.out, a.json       ? pretty_json(lab::bars_json(outcome)) + "\n"
                  : a.markdown ? lab::bars_markdown(outcome)
                               : lab::bars_table(outcome, style));
  return a.strict ? status_of(outcome) : kFine;
}

}  // namespace assay::cli
