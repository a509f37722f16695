// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Kind 5: many rows at once, none, few, half or all of them truly slower.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "findings.h"
#include "lab/stats/family.h"
#include "lab/stats/gate.h"
#include "lab/stats/paired_ratio.h"
#include "lab/stats/unpaired_ratio.h"
#include "noise_models.h"

namespace assay::lab::validation {
namespace {

constexpr double kTolerance = 0.05, kAlpha = 0.05;
constexpr int kDraws = 999;

// Experiments with so many rows each, fewer where each is dear.
int trials_of(const Effort& effort, int rows) {
  return effort.trials(std::max(100, 20'000 / rows), rows < 1000 ? 20 : 4);
}
// More rounds than can be tried in all their signs take drawn ones: a thousand rows are enough
// there.
std::vector<int> rounds_for(int rows) {
  return rows < 1000 ? std::vector{6, 10, 20} : std::vector{6, 10};
}

std::vector<int> sizes(const Effort& effort) {
  return effort.full() ? std::vector{1, 10, 100, 1000} : std::vector{1, 10, 100};
}

std::vector<Evidence> draw_rows(Noise noise, int rows, int rounds, int slower, double factor,
                                bool paired, RandomStream& random) {
  std::vector<Evidence> family;
  for (int i = 0; i < rows; ++i) {
    const auto sides = draw_sides(noise, rounds, i < slower ? factor : 1, random);
    if (paired) {
      family.emplace_back(PairedEvidence{sides.d()});
    } else {
      family.emplace_back(UnpairedEvidence{sides.b, sides.a});
    }
  }
  return family;
}

// As `compare` decides: the interval and the family.
std::vector<bool> differing(const std::vector<Evidence>& family) {
  const auto p = judge_family(family, {.draws = kDraws});
  std::vector<bool> differ;
  for (std::size_t i = 0; i < family.size(); ++i) {
    std::optional<Interval> interval;
    if (const auto* paired = std::get_if<PairedEvidence>(&family[i])) {
      interval = ratio_of_differences(paired->d).interval;
    } else {
      const auto& sides = std::get<UnpairedEvidence>(family[i]);
      interval = unpaired_ratio(sides.baseline, sides.current).interval;
    }
    const auto shown = what_is_shown(interval, p[i]);
    differ.push_back(shown == Shown::kAbove || shown == Shown::kBelow);
  }
  return differ;
}

std::string share(int count, int trials, int digits = 1) {
  return trials > 0 ? percent(static_cast<double>(count) / trials, digits) : "–";
}

Table nothing_there(const Effort& effort, bool paired) {
  Table table{
      paired ? "Many rows in which nothing differs" : "The same from runs made apart",
      "Share of families in which any row is said to differ, by the rule of `run`, "
      "`compare`, report and page; 20 000 rows in all for each figure, at least 100 families. "
      "Bound: 5 %.",
      {"noise", paired ? "rounds" : "attempts a side", "1 row", "10 rows", "100 rows", "1000 rows"},
      {}};
  for (const auto noise : kAllNoise) {
    if (!paired && !is_independent(noise)) continue;  // what drifts between runs is in the ratio
    for (const int rounds : {6, 10, 20}) {
      std::vector<std::string> cells = {std::string(name_of(noise)), std::to_string(rounds)};
      bool within = true;
      for (const int rows : {1, 10, 100, 1000}) {
        if (rows == 1000 && (rounds > 10 || !paired || !effort.full())) {
          cells.emplace_back("–");
          continue;
        }
        const int trials = trials_of(effort, rows);
        int alarms = 0;
        for (int t = 0; t < trials; ++t) {
          auto random = stream(t, fmt::format("n{}{}{}", name_of(noise), rounds, rows));
          const auto differ = differing(draw_rows(noise, rows, rounds, 0, 1, paired, random));
          alarms += std::ranges::find(differ, true) != differ.end();
        }
        within = within && can_be_at_most(alarms, trials, kAlpha);
        cells.push_back(share(alarms, trials));
      }
      table.add(cells, within ? Outcome::kWithin : Outcome::kOutside);
    }
  }
  return table;
}

Table something_there(const Effort& effort) {
  Table table{"Many rows of which some differ",
              "Normal noise of 1 %, some rows 5 % slower; share of them that are found, and of "
              "families in which any other row is said to differ. Bound: 5 % for the latter; all "
              "found in 95 % from 10 rounds on.",
              {"rows", "slower", "rounds", "found", "falsely said"},
              {}};
  for (const int rows : sizes(effort)) {
    for (const double part : {0.05, 0.5, 1.0}) {
      const int slower = static_cast<int>(std::lround(part * rows));
      if (slower == 0 || (rows == 1 && part < 1)) continue;
      for (const int rounds : rounds_for(rows)) {
        const int trials = trials_of(effort, rows);
        int found = 0, alarms = 0;
        for (int t = 0; t < trials; ++t) {
          auto random = stream(t, fmt::format("s{}{}{}", rows, part, rounds));
          const auto differ =
              differing(draw_rows(Noise::kNormal, rows, rounds, slower, 1.05, true, random));
          found += static_cast<int>(std::count(differ.begin(), differ.begin() + slower, true));
          alarms += std::find(differ.begin() + slower, differ.end(), true) != differ.end();
        }
        const bool within = can_be_at_most(alarms, trials, kAlpha) &&
                            (rounds < 10 || can_be_at_least(found, trials * slower, 0.95));
        table.add({std::to_string(rows), std::to_string(slower), std::to_string(rounds),
                   share(found, trials * slower), share(alarms, trials)},
                  within ? Outcome::kWithin : Outcome::kOutside);
      }
    }
  }
  return table;
}

Table gates(const Effort& effort) {
  Table table{
      "Gates over many rows",
      "Tolerance δ = 5 %. No change: share of gates with any row flagged, in the noise that "
      "gives the most of them; bound 1 %. All exactly δ slower, the worst place for false "
      "alarms: the same; bound 5 %. One row 2δ slower, all rows 2δ slower, all ten times "
      "slower (1 % noise): share of these rows that are flagged; bound 95 % from 10 rounds on, and "
      "for ten times at 6.",
      {"rows", "rounds", "no change", "all δ", "one 2δ", "all 2δ", "all ×10"},
      {}};
  for (const int rows : sizes(effort)) {
    for (const int rounds : rounds_for(rows)) {
      const int trials = trials_of(effort, rows);
      struct Flags {
        int gates = 0, rows = 0;
      };
      const auto flagged = [&](Noise noise, int slower, double factor) {
        Flags flags;
        for (int t = 0; t < trials; ++t) {
          auto random = stream(t, fmt::format("g{}{}{}{}", rows, rounds, slower, factor));
          const auto verdicts =
              decide_gate(draw_rows(noise, rows, rounds, slower, factor, true, random),
                          {.tolerance = kTolerance, .draws = kDraws});
          const auto count = std::ranges::count(verdicts, Verdict::kRegressed, &GateRow::verdict);
          flags.gates += count > 0;
          flags.rows += static_cast<int>(count);
        }
        return flags;
      };
      Flags worst;
      for (const auto noise : {Noise::kNormal, Noise::kLognormal, Noise::kSpiky, Noise::kBimodal}) {
        const auto flags = flagged(noise, 0, 1);
        if (flags.gates >= worst.gates) worst = flags;
      }
      const auto at_limit = flagged(Noise::kNormal, rows, 1 + kTolerance);
      const auto one = flagged(Noise::kNormal, 1, 1 + 2 * kTolerance);
      const auto all = flagged(Noise::kNormal, rows, 1 + 2 * kTolerance);
      const auto tenfold = flagged(Noise::kNormal, rows, 10);
      const bool within = can_be_at_most(worst.gates, trials, 0.01) &&
                          can_be_at_most(at_limit.gates, trials, kAlpha) &&
                          can_be_at_least(tenfold.rows, trials * rows, 0.95) &&
                          (rounds < 10 || (can_be_at_least(one.rows, trials, 0.95) &&
                                           can_be_at_least(all.rows, trials * rows, 0.95)));
      table.add({std::to_string(rows), std::to_string(rounds), share(worst.gates, trials, 2),
                 share(at_limit.gates, trials), share(one.rows, trials),
                 share(all.rows, trials * rows), share(tenfold.rows, trials * rows)},
                within ? Outcome::kWithin : Outcome::kOutside);
    }
  }
  return table;
}

}  // namespace

std::vector<Table> families(const Effort& effort) {
  return {nothing_there(effort, true), nothing_there(effort, false), something_there(effort),
          gates(effort)};
}

}  // namespace assay::lab::validation
