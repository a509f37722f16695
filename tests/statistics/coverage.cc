// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Kind 2: how often an interval holds what it should hold.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "findings.h"
#include "lab/stats/distributions.h"
#include "lab/stats/paired_ratio.h"
#include "lab/stats/unpaired_ratio.h"
#include "noise_models.h"

namespace assay::lab::validation {
namespace {

constexpr double kFactor = 1.07;  // the true ratio

bool holds(const Interval& interval, double value) {
  return interval.low <= value && value <= interval.high;
}

// One column for each n: measured, with the bound on the way.
struct Column {
  int covered = 0, trials = 0;
  double stated = 0;
};

std::string cell(const Column& c) { return percent(static_cast<double>(c.covered) / c.trials); }

// Not below the nominal level; where the stated coverage is exact, that and no other.
bool keeps(const Column& c, double nominal, bool exact) {
  if (!can_be_at_least(c.covered, c.trials, exact ? c.stated : nominal)) return false;
  return !exact || can_be_at_most(c.covered, c.trials, c.stated);
}

template <typename Method>
Table exact_intervals(const char* title, const char* what, const std::vector<int>& sizes,
                      double nominal, int trials, Method method) {
  Table table{title,
              fmt::format("{} True ratio {}, {} experiments. The first line is the exact coverage "
                          "of the order statistics that were chosen; bound: independent values "
                          "without ties cover with that chance, all others with no less than {}.",
                          what, kFactor, trials, percent(nominal, 0)),
              {"noise"},
              {}};
  for (const int n : sizes) table.columns.push_back(fmt::format("n = {}", n));
  bool first = true;
  for (const auto noise : kAllNoise) {
    std::vector<std::string> cells = {std::string(name_of(noise))}, stated = {"(exact)"};
    bool within = true;
    for (const int n : sizes) {
      Column column;
      for (int t = 0; t < trials; ++t) {
        auto random = stream(t, fmt::format("{}{}", n, name_of(noise)));
        const Interval interval = method(draw_sides(noise, n, kFactor, random), n);
        column.covered += holds(interval, kFactor);
        column.stated = interval.coverage;
        ++column.trials;
      }
      cells.push_back(cell(column));
      stated.push_back(percent(column.stated));
      within = within && keeps(column, nominal, is_independent(noise) && !has_ties(noise));
    }
    if (first) table.add(stated, Outcome::kShown);
    first = false;
    table.add(cells, within ? Outcome::kWithin : Outcome::kOutside);
  }
  return table;
}

// No drawing needed: the chance that the interval holds p is a finite sum.
Table rates_table() {
  Table table{"Coverage of the interval of a rate",
              "Clopper and Pearson, 95 %; the least over 999 chances, summed exactly. Bound: 95 %.",
              {"trials", "least coverage"},
              {}};
  for (const int n : {6, 10, 20, 50, 100}) {
    std::vector<Interval> intervals;
    for (int k = 0; k <= n; ++k) intervals.push_back(clopper_pearson(k, n));
    double least = 1;
    for (int i = 1; i < 1000; ++i) {
      const double p = i / 1000.0;
      double sum = 0;
      for (int k = 0; k <= n; ++k) {
        if (holds(intervals[static_cast<std::size_t>(k)], p)) {
          sum += binomial_cdf(n, k, p) - binomial_cdf(n, k - 1, p);
        }
      }
      least = std::min(least, sum);
    }
    table.add({std::to_string(n), percent(least, 2)},
              least >= 0.95 - 1e-9 ? Outcome::kWithin : Outcome::kOutside);
  }
  return table;
}

}  // namespace

std::vector<Table> coverage(const Effort& effort) {
  const int trials = effort.trials(4000);
  const auto paired = [](double confidence) {
    return
        [confidence](const Sides& s, int) { return *paired_ratio(s.b, s.a, confidence).interval; };
  };
  std::map<int, RankSum> laws;
  const auto unpaired = [&](const Sides& s, int n) {
    const auto law = laws.try_emplace(n, n, n).first;
    return *unpaired_ratio(s.a, s.b, law->second).interval;
  };
  return {exact_intervals("Coverage of the paired ratio, 95 %", "Rounds of both sides.",
                          {6, 8, 10, 14, 20, 40, 80, 100}, 0.95, trials, paired(0.95)),
          exact_intervals("Coverage of the paired ratio, 99 %", "Rounds of both sides.",
                          {8, 11, 20, 50, 100}, 0.99, trials, paired(0.99)),
          exact_intervals("Coverage of the unpaired ratio, 95 %",
                          "Attempts a side, taken as if they shared no rounds.",
                          {6, 10, 20, 50, 100}, 0.95, effort.trials(2000), unpaired),
          rates_table()};
}

}  // namespace assay::lab::validation
