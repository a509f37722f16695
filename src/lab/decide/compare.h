// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/decide/match.h"
#include "lab/show/terminal/grid.h"

namespace assay::lab {

struct CompareSettings {
  double alpha = 0.05;       // share of false ones among the differences that are called so
  double confidence = 0.95;  // of the intervals, which are not adjusted
  double effect = 0.05;      // relative: "rounds needed" is for this
};

// One match, judged. Everything in b over a: below 1, b is smaller.
struct Comparison {
  Match match;
  bool compared = false;  // false: a side is missing, not ok or without values; then no numbers
  Pairing pairing = Pairing::kUnpaired;
  double ratio = 0;
  std::optional<Interval> interval;  // nothing: too few rounds
  double p = 1, q = 1;               // two-sided; q: Benjamini and Hochberg over all comparisons
  bool differs = false;              // q ≤ alpha, and the interval does not hold 1
  int rounds = 0;                    // paired rounds, or attempts of the smaller side
  double detectable = 0;             // relative: the smallest effect these rounds would have shown
  int rounds_needed = 0;             // for the effect asked about
  int a_unused = 0, b_unused = 0;

  // "b is faster", "b is larger", "no difference shown", "only in a", "b: wrong_result", …
  std::string verdict(const std::string& a_name, const std::string& b_name) const;
};

// p by sign flips (paired) or exchange of labels (unpaired), seeded: the same rows give the same.
std::vector<Comparison> compare_matches(std::vector<Match> matches,
                                        const CompareSettings& settings = {});

// {a, b, settings, comparisons: [{case, point, …, metric, pairing, ratio, low, high, p, q, verdict,
// minimum_detectable_effect, rounds, rounds_needed, a: {status, median, attempts}, b: {…}}]}
Json comparisons_json(std::span<const Comparison> comparisons, const std::string& a_name,
                      const std::string& b_name, const CompareSettings& settings);

// For the terminal: ratio with interval, verdict, and beside every "no difference" what would have
// been seen.
std::string comparisons_table(std::span<const Comparison> comparisons, const std::string& a_name,
                              const std::string& b_name, const CompareSettings& settings,
                              const TableStyle& style);

}  // namespace assay::lab
