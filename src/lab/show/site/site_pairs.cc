// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <vector>

#include "lab/show/site/site_parts.h"
#include "lab/stats/family.h"
#include "lab/stats/unpaired_ratio.h"

namespace assay::lab {
namespace {

constexpr std::size_t kMostPairs = 20'000;
constexpr int kDraws = 999;  // of rearrangements: there are many pairs, and p is not printed

// What of a page may be compared: positions among the summaries, by run.
using Series = std::map<SeriesKey, std::vector<int>>;

Series measured_series(const SiteIndex& index) {
  Series series;
  for (std::size_t i = 0; i < index.summaries().size(); ++i) {
    const auto& s = index.summaries()[i];
    const bool usable = s.summary.status == Status::kOk && !s.summary.values(Status::kOk).empty();
    if (usable) series[s.key].push_back(static_cast<int>(i));
  }
  return series;
}

std::size_t pairs_among(const Series& series, std::size_t runs) {
  std::size_t count = 0;
  for (const auto& [key, list] : series) {
    const auto n = std::min(list.size(), runs);
    count += n * (n - 1) / 2;
  }
  return count;
}

}  // namespace

Json site_pairs(const SiteIndex& index) {
  const auto series = measured_series(index);
  std::size_t runs = 2;
  for (const auto& [key, list] : series) runs = std::max(runs, list.size());
  while (runs > 2 && pairs_among(series, runs) > kMostPairs) --runs;
  // The rows that two runs have in common are one family, as `assay compare` takes them.
  struct Family {
    std::vector<Evidence> rows;
    std::vector<Interval> intervals;
    std::vector<std::size_t> pairs;
  };
  std::map<std::pair<int, int>, Family> families;
  const auto run_of = [&](int i) { return index.summaries()[static_cast<std::size_t>(i)].run; };
  Json pairs = Json::array();
  const auto values = [&](int i) {
    return index.summaries()[static_cast<std::size_t>(i)].summary.values(Status::kOk);
  };
  std::map<std::pair<int, int>, RankSum> distributions;  // runs of one case have few sizes
  for (const auto& [key, list] : series) {
    const auto first = list.size() - std::min(list.size(), runs);
    for (std::size_t a = first; a < list.size(); ++a) {
      for (std::size_t b = a + 1; b < list.size(); ++b) {
        const auto before = values(list[a]), after = values(list[b]);
        const auto sizes =
            std::pair(static_cast<int>(before.size()), static_cast<int>(after.size()));
        const auto& distribution =
            distributions.try_emplace(sizes, sizes.first, sizes.second).first->second;
        const auto ratio = unpaired_ratio(before, after, distribution);
        Json pair = Json::array({list[a], list[b], ratio.ratio});
        if (ratio.interval) {
          pair.push_back(ratio.interval->low);
          pair.push_back(ratio.interval->high);
          auto& family = families[{run_of(list[a]), run_of(list[b])}];
          family.rows.emplace_back(UnpairedEvidence{after, before});
          family.intervals.push_back(*ratio.interval);
          family.pairs.push_back(pairs.size());
        }
        pairs.push_back(std::move(pair));
      }
    }
  }
  for (const auto& [runs_of_it, family] : families) {
    const auto p = judge_family(family.rows, {.draws = kDraws});
    for (std::size_t i = 0; i < p.size(); ++i) {
      const auto shown =
          what_is_shown(family.intervals[i], p[i], FamilySettings{}.alpha, kBetweenRuns);
      pairs[family.pairs[i]].push_back(is_difference(shown));
    }
  }
  return pairs;
}

}  // namespace assay::lab
