// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/gate.h"

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/measure/calibrated_floor.h"
#include "cli/measure/gate_run.h"
#include "cli/program.h"
#include "cli/rows/selections.h"
#include "cli/terminal.h"
#include "lab/show/exchange/junit.h"

namespace assay::cli {
namespace {

lab::GateOptions options_of(const GateArguments& a) {
  lab::GateOptions options;
  options.rule = a.rule == "min-p95" ? lab::GateRule::kMinP95 : lab::GateRule::kIntervals;
  options.delta = parse_share(a.delta, "--delta");
  options.alpha = parse_share(a.alpha, "--alpha");
  options.confidence = parse_share(a.confidence, "--confidence");
  options.metric = a.metric;
  options.strict = a.strict;
  return options;
}

int show(const GateArguments& a, const lab::GateResult& result, const std::string& baseline,
         const std::string& current) {
  const auto json = pretty_json(lab::gate_json(result, baseline, current)) + "\n";
  if (!a.out.empty()) write_file_atomically(a.out, json);
  if (!a.junit.empty()) {
    write_file_atomically(a.junit, lab::junit_xml("assay gate", lab::gate_tests(result)));
  }
  print(a.json       ? json
        : a.markdown ? lab::gate_markdown(result, baseline, current)
                     : lab::gate_table(result, baseline, current, stdout_style()));
  return result.exit_status();
}

// A source, a run or a commit.
SelectedSide side_of(const std::string& text, const std::vector<lab::Row>& rows,
                     const GateArguments& a) {
  // What a damaged journal holds may be what a gate is there to catch.
  auto side = select_side(text, rows, a.pool, lab::Reading::kAllOrNothing);
  if (side.selector.kind == lab::SelectorKind::kProvider) {
    fail("a gate is between sources, runs or commits, not {} (assay compare does that)",
         side.selector.name);
  }
  return side;
}

int gate_on_rows(const GateArguments& a) {
  if (a.current.empty() && !a.dry_run) {
    fail("--current is missing: a source, a run or a commit");
  }
  if (!a.cases.empty()) fail("cases are for --run: '{}'", a.cases.front());
  auto options = options_of(a);
  const auto rows = read_rows(a.sources, lab::Reading::kAllOrNothing);
  const auto baseline = side_of(a.baseline, rows, a);
  if (a.dry_run) {
    print(fmt::format("baseline: {} in {}\n",
                      plural(static_cast<std::int64_t>(baseline.rows.size()), "row"),
                      baseline.selector.name));
    return kFine;
  }
  const auto current = side_of(a.current, rows, a);
  refuse_equal_sides(baseline, current);
  options.floor = [&](const std::string& machine) {
    return calibrated_floor(machine, current.rows);
  };
  return show(a, lab::judge_gate(baseline.rows, current.rows, options), baseline.selector.name,
              current.selector.name);
}

}  // namespace

int gate(const GateArguments& typed) {
  auto a = typed;
  if (a.json && a.markdown) fail("--json and --markdown: one of them");
  if (a.run && a.baseline.empty()) {  // gate --run OLD NEW [CASE…]
    if (a.cases.size() < 2 || !a.current.empty()) {
      fail("--run needs what is compared: gate --run OLD NEW, or --baseline OLD and cases");
    }
    a.baseline = a.cases[0];
    a.current = a.cases[1];
    a.cases.erase(a.cases.begin(), a.cases.begin() + 2);
  }
  if (a.baseline.empty()) fail("--baseline is required: a source, a run or a commit");
  if (!a.run && !a.cluster.executor.empty()) {
    fail("--executor is for --run, rows are judged here: '{}'", a.cluster.executor);
  }
  if (!a.run) return gate_on_rows(a);
  if (a.dry_run) fail("--dry-run is for rows that are there already, not for --run");
  const auto measured = run_gate(a, options_of(a));
  if (!measured) return kInterrupted;
  return show(a, measured->result, measured->baseline, measured->current);
}

}  // namespace assay::cli
