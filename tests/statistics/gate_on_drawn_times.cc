// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Kind 7 without a clock: the gate on drawn times.

#include <fmt/format.h>

#include <cmath>

#include "findings.h"
#include "lab/stats/gate.h"
#include "lab/stats/quantile.h"
#include "noise_models.h"

namespace assay::lab::validation {
namespace {

constexpr double kTolerance = 0.05;
constexpr int kRounds = 20;

// Process σ 1 %, batch σ 1 %; spikes in single batches, or in whole attempts.
double attempt(RandomStream& random, bool whole_attempts) {
  auto batches = draw_batches(random);
  const double spike = whole_attempts && random.unit() < 0.02 ? 3 : 1;
  return spike * median(batches);
}

Evidence draw(RandomStream& random, double factor, bool whole_attempts, bool paired) {
  PairedEvidence rounds;
  UnpairedEvidence apart;
  for (int r = 0; r < kRounds; ++r) {
    const double baseline = attempt(random, whole_attempts);
    const double current = factor * attempt(random, whole_attempts);
    rounds.d.push_back(std::log(current) - std::log(baseline));
    apart.current.push_back(current);
    apart.baseline.push_back(baseline);
  }
  if (paired) return rounds;
  return apart;
}

}  // namespace

std::vector<Table> gate_on_drawn_times(const Effort& effort) {
  const int trials = effort.trials(2000);
  Table table{
      "The gate on drawn times",
      fmt::format(
          "Process σ 1 %, batch σ 1 %, 2 % spikes (threefold, in single batches or in whole "
          "attempts), {} rounds, δ = 5 %, {} experiments, one row each. Bounds: the same "
          "distribution under two names is not flagged in 99 %; δ/2 slower not in 95 %; "
          "δ slower flagged in at most 5 %; 2δ slower flagged in 95 %.",
          kRounds, trials),
      {"evidence", "spikes in", "true change", "PASS", "UNRESOLVED", "REGRESSED"},
      {}};
  for (const bool paired : {true, false}) {
    for (const bool whole : {false, true}) {
      struct Case {
        const char* name;
        double factor;
        double least_unflagged, least_flagged;
      };
      for (const auto& c : {Case{"none", 1, 0.99, 0}, Case{"+δ/2", 1.025, 0.95, 0},
                            Case{"+δ", 1.05, 0.95, 0}, Case{"+2δ", 1.10, 0, 0.95}}) {
        int counts[3] = {};
        for (int t = 0; t < trials; ++t) {
          auto random = stream(t, fmt::format("g{:d}{:d}{}", paired, whole, c.factor));
          const Evidence evidence = draw(random, c.factor, whole, paired);
          const auto row = decide_gate({&evidence, 1}, {.tolerance = kTolerance}).front();
          ++counts[static_cast<int>(row.verdict)];
        }
        const int flagged = counts[static_cast<int>(Verdict::kRegressed)];
        // The bounds hold for the measured shares themselves; only at δ itself, where the
        // true chance is the level, is accident allowed for.
        const double share = static_cast<double>(flagged) / trials;
        const bool at_level = c.factor == 1.05;
        const bool within = at_level ? can_be_at_most(flagged, trials, 0.05)
                                     : 1 - share >= c.least_unflagged && share >= c.least_flagged;
        const auto cell = [&](Verdict v) {
          return percent(static_cast<double>(counts[static_cast<int>(v)]) / trials, 2);
        };
        table.add({paired ? "rounds" : "apart", whole ? "attempts" : "batches", c.name,
                   cell(Verdict::kPass), cell(Verdict::kUnresolved), cell(Verdict::kRegressed)},
                  within ? Outcome::kWithin : Outcome::kOutside);
      }
    }
  }
  return {table};
}

}  // namespace assay::lab::validation
