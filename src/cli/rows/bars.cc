// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/bars.h"

#include <set>

#include "base/error.h"
#include "base/input_file.h"
#include "cli/commands.h"
#include "cli/installation.h"
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

// A case that neither we nor the rows know is a slip of the pen, not something to be measured yet.
void check_cases(const lab::BarFile& file, const std::vector<lab::Row>& rows) {
  std::set<std::string> known;
  const auto cases = all_cases();
  for (const auto& definition : cases.all()) known.insert(std::string(definition->name()));
  for (const auto& row : rows) known.insert(row.case_name);
  for (const auto& table : file.tables) {
    for (const auto& bar : table.bars) {
      for (const auto* side : {&bar.side, bar.over    ? &*bar.over
                                          : bar.minus ? &*bar.minus
                                                      : nullptr}) {
        if (side != nullptr && !known.contains(side->case_name)) {
          fail("'{}': no case '{}' (see assay list), and no row of it", bar.what, side->case_name);
        }
      }
    }
  }
}

}  // namespace

int bars(const BarsArguments& a) {
  if (a.json && a.markdown) fail("--json and --markdown: one of them");
  const auto file = lab::parse_bars(read_input_file(a.file), a.file);
  auto rows = read_rows(a.sources, reading_for(a.strict));
  if (a.latest) rows = lab::latest_rows(std::move(rows));
  if (rows.empty()) fail("there are no rows to hold to '{}'", a.file);
  check_cases(file, rows);
  const auto outcome = lab::hold_to_bars(file, rows);
  auto style = stdout_style();
  style.all = a.all;
  put_text(a.out, a.json       ? pretty_json(lab::bars_json(outcome)) + "\n"
                  : a.markdown ? lab::bars_markdown(outcome)
                               : lab::bars_table(outcome, style));
  return a.strict ? status_of(outcome) : kFine;
}

}  // namespace assay::cli
