// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Did anything become slower or wrong? Rows of a baseline and of now in, one verdict for each out.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/decide/match.h"
#include "lab/show/terminal/grid.h"

namespace assay::lab {

enum class GateOutcome {
  kPass,
  kRegressed,    // slower than the tolerance allows
  kUnresolved,   // neither can be said from these attempts
  kBroken,       // was ok, and now is wrong, crashed, out of memory, timed out or failed
  kRecovered,    // the other way round
  kStillBroken,  // was and is not ok
  kNotMeasured,  // was ok, and now is skipped, or its environment is missing
  kNew,          // only now, or never tried before
  kDropped,      // only in the baseline
};
const char* outcome_name(GateOutcome outcome);  // "PASS", …, "BROKEN", "RECOVERED", "NEW", …

enum class GateRule { kIntervals, kMinP95 };

struct GateOptions {
  GateRule rule = GateRule::kIntervals;
  double delta = 0.05;  // relative: what is asked for
  double alpha = 0.05;
  // How often the rows are judged while more are being measured; alpha is shared among the looks,
  // since each is a chance of a false alarm.
  int looks = 1;
  double confidence = 0.95;
  bool strict = false;      // for CI: what cannot be judged does not pass
  std::string metric = {};  // empty: each case's primary one
  // The A/A floor of a machine by its fingerprint; nothing where it was never calibrated.
  std::function<std::optional<double>(const std::string&)> floor = {};
};

struct GateEntry {
  Match match;  // a: baseline, b: current
  GateOutcome outcome = GateOutcome::kUnresolved;
  std::optional<Pairing> pairing;  // nothing: no ratio
  GateRow numbers;                 // ratio is current over baseline in badness: above 1 is worse
  double tolerance = 0;            // of this row: max(asked, its machine's floor)
  bool calibrated = false;
  std::optional<MinP95> simple;  // with the rule min-p95
  std::string reason;            // one line, printable
};

struct GateResult {
  GateOptions options;
  std::vector<GateEntry> entries;         // the worst first: broken, regressed, unresolved, …
  std::map<std::string, double> floors;   // by fingerprint
  std::vector<std::string> uncalibrated;  // fingerprints
  int skipped_on_both_sides = 0;          // left out
  std::vector<std::string> dropped;  // what the current side has lost before anything was measured

  int count(GateOutcome outcome) const;
  // No row is on both sides: two machines, two sets of points. Such a gate has shown nothing.
  bool compared_nothing() const;
  // No row says anything about the change: what is on both sides is broken on both, or void.
  // exits.cc
  bool shown_nothing() const;
  // 4 where something broke, else 1 where something regressed, else 3 where something is
  // unresolved or nothing was shown, and when strict where anything is still broken, not measured,
  // new, dropped, or its machine not calibrated; else 0. exits.cc
  int exit_status(bool strict) const;
  int exit_status() const { return exit_status(options.strict); }
};

// All rows that are ok on both sides are one family (lab/stats/family.h). New, dropped, recovered
// and not measured rows are named and change nothing. Throws UserError for options out of range.
GateResult judge_gate(std::span<const Row> baseline, std::span<const Row> current,
                      const GateOptions& options);

// The names say where the sides came from.
Json gate_json(const GateResult& result, const std::string& baseline, const std::string& current);
// Sentences below a table, printable: the verdict with the exit status first, then what it rests
// on.
std::vector<std::string> gate_notes(const GateResult& result, const std::string& baseline,
                                    const std::string& current);
// For a pull request: the verdict in the first line, a table of what someone must look at, the rest
// folded. Bounded, whatever the number of rows. gate_markdown.cc
std::string gate_markdown(const GateResult& result, const std::string& baseline,
                          const std::string& current);
std::string gate_table(const GateResult& result, const std::string& baseline,
                       const std::string& current, const TableStyle& style);

// One test for each row of a gate (lab/show/exchange/junit.h). Regressed and wrong rows are
// failures, other broken ones errors; what is unresolved, still broken, not measured or dropped is
// skipped, with the reason; the rest has passed.
struct TestCase;
std::vector<TestCase> gate_tests(const GateResult& result);

}  // namespace assay::lab
