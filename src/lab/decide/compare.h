// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/decide/match.h"
#include "lab/show/terminal/grid.h"
#include "lab/stats/family.h"

namespace assay::lab {

struct CompareSettings {
  double alpha = 0.05;                 // chance that any row is falsely said to differ
  double confidence = 0.95;            // of the intervals, which are not adjusted
  double effect = 0.05;                // relative: "rounds needed" is for this
  double between_runs = kBetweenRuns;  // relative: unpaired sides differ by less for other reasons
  double between_builds = 0;           // the same of paired sides, where they are two builds
};

// One match, judged. Everything in b over a: below 1, b is smaller.
struct Comparison {
  Match match;
  bool compared = false;  // false: a side is missing, not ok or without values; then no numbers
  Pairing pairing = Pairing::kUnpaired;
  double ratio = 0;
  std::optional<Interval> interval;  // nothing: too few rounds
  FamilyP p;                         // two-sided, over all comparisons
  Shown shown = Shown::kTooFew;
  int rounds = 0;         // paired rounds, or attempts of the smaller side
  double detectable = 0;  // relative: the smallest effect these rounds would have shown
  int rounds_needed = 0;  // for the effect asked about
  int a_unused = 0, b_unused = 0;

  // Its interval and the family would do, did such sides not differ by as much with nothing
  // changed.
  bool within_margin = false;

  bool differs() const { return is_difference(shown); }
  // "b is faster", "b is larger", "b is perhaps slower", "no difference shown", "only in a",
  // "b: wrong_result", … with these names of the sides.
  std::string verdict(const std::string& a, const std::string& b) const;
};

// All rows are one family (lab/stats/family.h); seeded: the same rows give the same.
std::vector<Comparison> compare_matches(std::vector<Match> matches,
                                        const CompareSettings& settings = {});

// {a, b, settings, comparisons: [{case, point, …, metric, pairing, ratio, low, high, p, p_adjusted,
// verdict,
// minimum_detectable_effect, rounds, rounds_needed, a: {status, median, attempts}, b: {…}}]}
Json comparisons_json(std::span<const Comparison> comparisons, const std::string& a_name,
                      const std::string& b_name, const CompareSettings& settings);

// For the terminal: ratio with interval, verdict, and beside every "no difference" what would have
// been seen.
std::string comparisons_table(std::span<const Comparison> comparisons, const std::string& a_name,
                              const std::string& b_name, const CompareSettings& settings,
                              const TableStyle& style);

}  // namespace assay::lab
