// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Kind 5: many rows at once, none, few or half of them truly slower.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "findings.h"
#include "lab/stats/gate.h"
#include "lab/stats/tests_of_difference.h"
#include "noise_models.h"

namespace assay::lab::validation {
namespace {

constexpr int kRows = 40, kRounds = 20;
constexpr double kTolerance = 0.05, kAlpha = 0.05;

}  // namespace

std::vector<Table> families(const Effort& effort) {
  const int trials = effort.trials(2000);
  Table table{
      "Many rows at once",
      fmt::format("{} rows of {} rounds, hierarchical noise, tolerance 5 %, {} experiments. Rows "
                  "without an effect sit exactly at the tolerance, the worst place for false "
                  "alarms; rows with one are at three times the tolerance. Family-wise error: "
                  "experiments in which the gate (Holm) flags any row without an effect. False "
                  "discoveries: mean share of such rows among those that Benjamini and Hochberg "
                  "report. Bound: 5 % each.",
                  kRows, kRounds, trials),
      {"true effects", "family-wise error", "false discoveries", "found by Holm", "found by BH"},
      {}};
  for (const double share : {0.0, 0.05, 0.5}) {
    const int effects = static_cast<int>(share * kRows);
    int false_families = 0, found_holm = 0, found_bh = 0;
    double false_share = 0, squares = 0;
    for (int t = 0; t < trials; ++t) {
      auto random = stream(t, fmt::format("fam{}", effects));
      std::vector<Evidence> rows;
      std::vector<double> p;
      for (int r = 0; r < kRows; ++r) {
        const double factor = 1 + (r < effects ? 3 * kTolerance : kTolerance);
        const auto d = draw_sides(Noise::kHierarchical, kRounds, factor, random).d();
        p.push_back(sign_test(d, std::log1p(kTolerance)));
        rows.push_back(PairedEvidence{d});
      }
      bool any = false;
      int reported = 0, wrong = 0;
      const auto verdicts = decide_gate(rows, {.tolerance = kTolerance, .alpha = kAlpha});
      const auto adjusted = benjamini_hochberg(p);
      for (int r = 0; r < kRows; ++r) {
        const auto i = static_cast<std::size_t>(r);
        const bool flagged = verdicts[i].verdict == Verdict::kRegressed;
        any = any || (flagged && r >= effects);
        found_holm += flagged && r < effects;
        const bool discovered = adjusted[i] <= kAlpha;
        reported += discovered;
        wrong += discovered && r >= effects;
        found_bh += discovered && r < effects;
      }
      false_families += any;
      const double part = reported > 0 ? static_cast<double>(wrong) / reported : 0;
      false_share += part / trials;
      squares += part * part / trials;
    }
    // A mean of shares: its own standard error, four of them.
    const double error = std::sqrt(std::max(0.0, squares - false_share * false_share) / trials);
    const bool within =
        can_be_at_most(false_families, trials, kAlpha) && false_share <= kAlpha + 4 * error;
    const auto found = [&](int count) {
      return effects > 0 ? percent(static_cast<double>(count) / (effects * trials)) : "–";
    };
    table.add({percent(share, 0), percent(static_cast<double>(false_families) / trials),
               percent(false_share), found(found_holm), found(found_bh)},
              within ? Outcome::kWithin : Outcome::kOutside);
  }
  return {table};
}

}  // namespace assay::lab::validation
