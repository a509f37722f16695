// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Kind 4: coverage where measuring stopped by the width of the interval.

#include <fmt/format.h>

#include <cmath>

#include "findings.h"
#include "lab/stats/paired_ratio.h"
#include "lab/stats/stopping.h"
#include "noise_models.h"

namespace assay::lab::validation {
namespace {

constexpr double kFactor = 1.07;
// "Stays about 94 %": not below 93 %.
constexpr double kLeast = 0.93;

}  // namespace

std::vector<Table> stop_rule(const Effort& effort) {
  const int trials = effort.trials(4000);
  Table table{
      "Coverage at the round where measuring stopped",
      fmt::format(
          "95 % intervals, looks after 10, 14, 20, 28, 40, 56 and 80 rounds, {} experiments. "
          "Two targets for each noise, so that it stops early and late. Bound: {} "
          "(such a rule is known to keep about 94 %). No experiment stops between looks.",
          trials, percent(kLeast, 0)),
      {"noise", "target", "mean rounds", "met", "coverage"},
      {}};
  for (const auto noise : kAllNoise) {
    // The wider kinds need wider targets to stop in time.
    const double scale = noise == Noise::kLognormal || noise == Noise::kBimodal ? 8 : 1;
    for (const double target : {0.004 * scale, 0.008 * scale}) {
      int covered = 0, met = 0;
      long rounds = 0;
      bool between = false;
      for (int t = 0; t < trials; ++t) {
        auto random = stream(t, fmt::format("s{}{}", target, name_of(noise)));
        const auto all = draw_sides(noise, kMaxRounds, kFactor, random);
        Stopping decision = Stopping::kContinue;
        int n = 0;
        std::optional<Interval> interval;
        while (decision == Stopping::kContinue) {
          n = *next_look(n);
          interval = paired_ratio(std::span(all.b).first(static_cast<std::size_t>(n)),
                                  std::span(all.a).first(static_cast<std::size_t>(n)))
                         .interval;
          decision = decide(n, interval, target);
        }
        between = between || !is_look(n);
        met += decision == Stopping::kMet;
        rounds += n;
        covered += interval->low <= kFactor && kFactor <= interval->high;
      }
      const bool within = !between && can_be_at_least(covered, trials, kLeast);
      table.add({std::string(name_of(noise)), "±" + percent(target),
                 fmt::format("{:.1f}", static_cast<double>(rounds) / trials),
                 percent(static_cast<double>(met) / trials, 0),
                 percent(static_cast<double>(covered) / trials)},
                within ? Outcome::kWithin : Outcome::kOutside);
    }
  }
  return {table};
}

}  // namespace assay::lab::validation
