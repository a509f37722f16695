// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Kind 1: p-values when there is no difference.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>

#include "findings.h"
#include "lab/stats/family.h"
#include "noise_models.h"

namespace assay::lab::validation {
namespace {

constexpr int kRounds = 20;
constexpr int kDraws = 999;  // permutations here; 9999 in the laboratory, which only refines p
constexpr std::array<double, 5> kLevels = {0.01, 0.05, 0.1, 0.25, 0.5};

struct Test {
  const char* name;
  std::function<double(const Sides&, std::uint64_t)> p;
};

double family_of_one(const Evidence& evidence, std::uint64_t seed) {
  return judge_family({&evidence, 1}, {.draws = kDraws, .seed = seed}).front().own;
}

}  // namespace

std::vector<Table> p_values(const Effort& effort) {
  const std::vector<Test> tests = {
      {"sign flips", [](const Sides& s,
                        std::uint64_t seed) { return family_of_one(PairedEvidence{s.d()}, seed); }},
      {"labels", [](const Sides& s, std::uint64_t seed) {
         return family_of_one(UnpairedEvidence{s.b, s.a}, seed);
       }}};

  const int trials = effort.trials(4000);
  Table table{
      "p-values when nothing is there",
      fmt::format(
          "Both sides alike, {} rounds, {} experiments. Share of p ≤ level, of one row by itself. "
          "Bound: at no level of 1, 5, 10, 25, 50 % more often than that; for independent values "
          "without ties not less often either.",
          kRounds, trials),
      {"noise", "test", "p ≤ 1 %", "p ≤ 5 %", "p ≤ 10 %", "p ≤ 25 %", "p ≤ 50 %"},
      {}};
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
        cells.push_back(percent(static_cast<double>(counts[k][l]) / trials));
        within = within && can_be_at_most(counts[k][l], trials, kLevels[l]);
        if (is_independent(noise) && !has_ties(noise)) {
          within = within && can_be_at_least(counts[k][l], trials, kLevels[l]);
        }
      }
      table.add(cells, within ? Outcome::kWithin : Outcome::kOutside);
    }
  }
  return {table};
}

}  // namespace assay::lab::validation
