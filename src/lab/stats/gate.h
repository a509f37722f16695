// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Is a row slower than it may be? Three answers, since "not shown" is not "no".
//
// The obvious gate compares two numbers with a limit and fails by noise alone when it looks at many
// rows. Here the rows of a gate are a family (family.h): the chance of even one false alarm is at
// most alpha, and a row that is far beyond the tolerance is found among any number of others.

#include <optional>
#include <span>
#include <vector>

#include "lab/stats/evidence.h"
#include "lab/stats/interval.h"

namespace assay::lab {

enum class Verdict { kPass, kRegressed, kUnresolved };

struct GateSettings {
  double tolerance = 0.05;   // δ, relative: max(what the user asks, the machine's floor)
  double alpha = 0.05;       // of the whole gate
  double confidence = 0.95;  // of the printed intervals, which are not adjusted
  double power = 0.8;        // of the minimum detectable effect
  int draws = 9999;          // of rearrangements (family.h)
};

struct GateRow {
  Verdict verdict = Verdict::kUnresolved;
  double ratio = 0;                  // current over baseline
  std::optional<Interval> interval;  // of the ratio; nothing: too few attempts
  double p = 1;                      // one-sided, of "slower by more than the tolerance"
  double p_adjusted = 1;             // over the rows of this gate
  int rounds = 0;                    // paired rounds, or attempts of the smaller side
  double detectable = 0;  // minimum detectable effect at these attempts, relative; σ from the rows
  int rounds_for_tolerance = 0;  // for the tolerance to be detectable
};

// What a row says by itself: all but p, its adjustment and the verdict, which the other rows have a
// say in. UserErrors as below.
GateRow describe_row(const Evidence& row, const GateSettings& settings);

// REGRESSED iff the adjusted p of "slower by more than the tolerance" is at most alpha and the
// whole interval lies above 1 + tolerance; PASS iff its upper end lies below that; otherwise
// UNRESOLVED. The result has the order of the input. Evidence without values is a UserError, as are
// values that are not finite (paired) or not positive and finite (unpaired), and settings out of
// range.
std::vector<GateRow> decide_gate(std::span<const Evidence> rows, const GateSettings& settings);
// The same where rows have tolerances of their own (machines differ in their floors): one for each,
// in place of the settings'. All rows are still one family.
std::vector<GateRow> decide_gate(std::span<const Evidence> rows, std::span<const double> tolerances,
                                 GateSettings settings);

// A simple rule for sources without rounds, opt-in: worse when the ratio of the minima exceeds
// 1.10 or that of the 95 % quantiles 1.25. It has no error rate: many rows exceed it by noise
// alone.
struct MinP95 {
  double min_ratio = 0, p95_ratio = 0;
  bool regressed = false;
};
inline constexpr double kMinLimit = 1.10, kP95Limit = 1.25;
// All four are positive and finite (UserError).
MinP95 min_p95_rule(double current_min, double current_p95, double baseline_min,
                    double baseline_p95);

}  // namespace assay::lab
