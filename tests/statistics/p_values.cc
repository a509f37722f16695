// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Kind 1: p-values when there is no difference.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>

#include "findings.h"
#include "lab/stats/rank_sum.h"
#include "lab/stats/sign_interval.h"
#include "lab/stats/tests_of_difference.h"
#include "lab/stats/unpaired_ratio.h"
#include "noise_models.h"

namespace assay::lab::validation {
namespace {

constexpr int kRounds = 20;
constexpr int kDraws = 999;  // permutations here; 9999 in the laboratory, which only refines p
constexpr std::array<double, 5> kLevels = {0.01, 0.05, 0.1, 0.25, 0.5};

struct Test {
  const char* name;
  std::function<double(const Sides&, std::uint64_t)> p;
  // The chance of p ≤ level that the test claims, for values without ties.
  std::function<double(double)> attainable;
};

// The largest value of a discrete distribution function that a level allows.
template <typename Cdf>
double largest_below(double level, long last, Cdf cdf) {
  double best = 0;
  for (long k = 0; k <= last; ++k) {
    if (cdf(k) <= level) best = cdf(k);
  }
  return best;
}

std::vector<double> logs(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double v : values) result.push_back(std::log(v));
  return result;
}

}  // namespace

std::vector<Table> p_values(const Effort& effort) {
  static const RankSum kRanks(kRounds, kRounds);
  const std::vector<Test> tests = {
      {"sign test", [](const Sides& s, std::uint64_t) { return sign_test(s.d()); },
       [](double level) {
         return largest_below(level, kRounds, [](long k) {
           return fair_binomial_cdf(kRounds, static_cast<int>(k));
         });
       }},
      {"sign flips",
       [](const Sides& s, std::uint64_t seed) { return sign_flip_p(s.d(), seed, kDraws); },
       [](double level) { return level; }},
      {"labels",
       [](const Sides& s, std::uint64_t seed) {
         return label_permutation_p(logs(s.a), logs(s.b), seed, kDraws);
       },
       [](double level) { return level; }},
      {"ranks", [](const Sides& s, std::uint64_t) { return rank_test(s.a, s.b, 0); },
       [](double level) {
         return largest_below(level, long{kRounds} * kRounds,
                              [](long k) { return kRanks.at_most(k); });
       }}};

  const int trials = effort.trials(4000);
  Table table{
      "p-values when nothing is there",
      fmt::format(
          "Both sides alike, {} rounds, {} experiments. Share of p ≤ level; the sign and rank "
          "tests "
          "can only attain some levels, given in the first lines. Bound: at no level of 1, 5, 10, "
          "25, 50 % more often than that; for independent values without ties not less often "
          "either.",
          kRounds, trials),
      {"noise", "test", "p ≤ 1 %", "p ≤ 5 %", "p ≤ 10 %", "p ≤ 25 %", "p ≤ 50 %"},
      {}};
  for (const auto& test : tests) {
    std::vector<std::string> cells = {"(attainable)", test.name};
    for (const double level : kLevels) cells.push_back(percent(test.attainable(level)));
    table.add(cells, Outcome::kShown);
  }
  for (const auto noise : kAllNoise) {
    std::vector<std::array<int, kLevels.size()>> counts(tests.size());
    for (int t = 0; t < trials; ++t) {
      auto random = stream(t, name_of(noise));
      const auto sides = draw_sides(noise, kRounds, 1, random);
      for (std::size_t k = 0; k < tests.size(); ++k) {
        const double p = tests[k].p(sides, static_cast<std::uint64_t>(t));
        for (std::size_t l = 0; l < kLevels.size(); ++l) counts[k][l] += p <= kLevels[l];
      }
    }
    for (std::size_t k = 0; k < tests.size(); ++k) {
      std::vector<std::string> cells = {std::string(name_of(noise)), tests[k].name};
      bool within = true;
      for (std::size_t l = 0; l < kLevels.size(); ++l) {
        const double claimed = tests[k].attainable(kLevels[l]);
        cells.push_back(percent(static_cast<double>(counts[k][l]) / trials));
        // Ties: no more than the level itself.
        within =
            within && can_be_at_most(counts[k][l], trials, has_ties(noise) ? kLevels[l] : claimed);
        if (is_independent(noise) && !has_ties(noise)) {
          within = within && can_be_at_least(counts[k][l], trials, claimed);
        }
      }
      table.add(cells, within ? Outcome::kWithin : Outcome::kOutside);
    }
  }
  return {table};
}

}  // namespace assay::lab::validation
