// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/self_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "lab/beside/pairs.h"
#include "lab/beside/place.h"
#include "lab/record/point.h"
#include "lab/record/provider.h"

namespace assay::lab {
namespace {

double value_of(const Row& row) { return ok_value(row, row.primary_metric()); }

// The batches of an ok attempt; its one value where a row carries no samples.
std::vector<double> batches_of(const Row& row) {
  std::vector<double> batches;
  for (const double sample : row.samples.steady_s()) {
    if (sample > 0) batches.push_back(sample);
  }
  if (batches.empty()) batches.push_back(value_of(row));
  return batches;
}

}  // namespace

std::vector<SelfComparison> self_comparisons(std::span<const Row> rows, int least) {
  struct Code {  // the provider behind the names, in one run
    std::string case_name, provider, run_id;
    Place place;
    bool operator<(const Code& o) const {
      return std::tie(case_name, provider, run_id, place) <
             std::tie(o.case_name, o.provider, o.run_id, o.place);
    }
  };
  std::map<Code, std::map<std::string, ByRound>> codes;
  for (const auto& row : rows) {
    const double value = value_of(row);
    if (std::isnan(value) || !made_in_turn(row)) continue;
    codes[{row.case_name, std::string(provider_of(row.provider)), row.run_id, place_of(row)}]
         [row.provider][round_of(row)] = value;
  }
  std::vector<SelfComparison> result;
  for (const auto& [code, names] : codes) {
    if (names.size() < 2) continue;
    const auto pairs = pair_rounds(std::next(names.begin())->second, names.begin()->second);
    if (pairs.rounds() < least) continue;
    SelfComparison comparison{code.case_name, code.provider, pairs.log_ratios(), {}};
    auto all = pairs.a;
    all.insert(all.end(), pairs.b.begin(), pairs.b.end());
    comparison.modes = two_modes(all);
    result.push_back(std::move(comparison));
  }
  return result;
}

std::vector<NoiseLine> noise_lines(std::span<const Row> rows, bool by_point) {
  struct Group {
    RunBatches batches;
    std::vector<double> values;
  };
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, std::map<std::string, Group>> keys;  // then by run
  for (const auto& row : rows) {
    const double value = value_of(row);
    if (std::isnan(value)) continue;
    const auto point = point_label(row.point);
    auto& group =
        keys[{row.case_name, by_point ? "" : point, std::string(provider_of(row.provider)),
              row.platform}][row.run_id + (by_point ? point : "")];
    group.batches.push_back(batches_of(row));
    group.values.push_back(value);
  }
  std::vector<NoiseLine> lines;
  for (const auto& [key, runs] : keys) {
    const auto& [case_name, point, provider, platform] = key;
    NoiseLine line{case_name, point, provider, platform, {}, 0, 0};
    std::vector<RunBatches> batches;
    for (const auto& [run, group] : runs) {
      batches.push_back(group.batches);
      ++line.groups;
      line.bimodal += two_modes(group.values).has_value();
    }
    line.budget = noise_budget(batches);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace assay::lab
