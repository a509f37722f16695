// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Kind 3: how often a true difference of the size the formula names is seen.

#include <fmt/format.h>

#include <cmath>

#include "findings.h"
#include "lab/stats/detectable.h"
#include "lab/stats/distributions.h"
#include "lab/stats/paired_ratio.h"
#include "lab/stats/sign_interval.h"
#include "noise_models.h"

namespace assay::lab::validation {
namespace {

constexpr double kPower = 0.8, kAlpha = 0.05, kSigma = 0.02;
// The formula is one of large samples: from here on it must be near, before it is shown.
constexpr int kFormulaHolds = 20;
constexpr double kFormulaError = 0.10;

// The chance that the interval of the median of R normal differences excludes zero: that of enough
// signs on one side.
double exact_power(double effect, int rounds) {
  const int k = *sign_interval_rank(rounds, 1 - kAlpha);
  const double above = normal_cdf(std::log1p(effect) / kSigma);
  return binomial_cdf(rounds, k - 1, 1 - above) + binomial_cdf(rounds, k - 1, above);
}

}  // namespace

std::vector<Table> power(const Effort& effort) {
  const int trials = effort.trials(4000);
  Table table{
      "Power at the minimum detectable effect",
      fmt::format(
          "Normal differences of σ_d = 2 %, two-sided level 5 %, {} experiments. The formula "
          "says 80 %. Bound: measured as the exact sign test has it, and from {} rounds on "
          "within {:.0f} points of the formula. Exact intervals exist for few levels only, "
          "so that at some numbers of rounds they are stricter than asked; the last column "
          "is the effect that has 80 % in truth, over the formula's.",
          trials, kFormulaHolds, 100 * kFormulaError),
      {"rounds", "effect", "level attained", "exact", "measured", "true over formula"},
      {}};
  for (const int rounds : {6, 10, 14, 20, 28, 40, 56, 80, 100}) {
    const double effect = minimum_detectable_effect(kSigma, rounds, kAlpha, kPower);
    int seen = 0;
    for (int t = 0; t < trials; ++t) {
      auto random = stream(t, fmt::format("power{}", rounds));
      std::vector<double> a, b;
      for (int r = 0; r < rounds; ++r) {
        a.push_back((1 + effect) * std::exp(kSigma * random.normal()));
        b.push_back(1);
      }
      const auto interval = paired_ratio(a, b).interval;
      seen += interval && (interval->low > 1 || interval->high < 1);
    }
    const double exact = exact_power(effect, rounds);
    double low = 0, high = 20 * effect;
    for (int step = 0; step < 60; ++step) {
      const double middle = (low + high) / 2;
      (exact_power(middle, rounds) < kPower ? low : high) = middle;
    }
    const double measured = static_cast<double>(seen) / trials;
    const bool true_to_exact =
        can_be_at_most(seen, trials, exact) && can_be_at_least(seen, trials, exact);
    const bool near = std::fabs(exact - kPower) <= kFormulaError;
    const Outcome outcome = !true_to_exact || (!near && rounds >= kFormulaHolds) ? Outcome::kOutside
                            : near                                               ? Outcome::kWithin
                                                                                 : Outcome::kShort;
    const int k = *sign_interval_rank(rounds, 1 - kAlpha);
    table.add(
        {std::to_string(rounds), percent(effect, 2), percent(1 - sign_interval_coverage(rounds, k)),
         percent(exact), percent(measured), fmt::format("{:.2f}", high / effect)},
        outcome);
  }
  return {table};
}

}  // namespace assay::lab::validation
