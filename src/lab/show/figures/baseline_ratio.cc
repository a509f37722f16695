// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/figures/baseline_ratio.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "lab/beside/place.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

// Points have rounds of their own.
RoundId round_at_point(const Row& row) {
  return {row.run_id + " " + canonical_json(row.point), row.round, device_of(row)};
}

}  // namespace

bool is_of_baseline(std::string_view quantity) {
  return quantity == kRatioQuantity || quantity == kSpeedupQuantity ||
         quantity == kEfficiencyQuantity;
}

BaselineRatios::BaselineRatios(std::span<const Row* const> rows, std::string primary_metric)
    : primary_(std::move(primary_metric)) {
  const auto counts = [&](const Row& row) {
    return made_in_turn(row) && !std::isnan(ok_value(row, primary_));
  };
  std::set<std::string> with_others;                        // runs at a point
  std::map<std::string, std::map<std::string, int>> named;  // by point, how often
  for (const Row* row : rows) {
    const auto& baseline = row->provenance.baseline;
    if (!counts(*row) || !baseline || *baseline == row->provider) continue;
    with_others.insert(round_at_point(*row).run_id);
    ++named[canonical_json(row->point)][*baseline];
  }
  for (const Row* row : rows) {
    if (!counts(*row) || !with_others.contains(round_at_point(*row).run_id)) continue;
    const auto& names = named[canonical_json(row->point)];
    const auto most = std::ranges::max_element(names, {}, [](const auto& n) { return n.second; });
    if (most->first == row->provider) baselines_[round_at_point(*row)] = ok_value(*row, primary_);
  }
}

std::optional<PairedRatio> BaselineRatios::of(std::string_view quantity,
                                              std::span<const Row* const> rows) const {
  ByRound values;
  std::vector<double> lanes;
  for (const Row* row : rows) {
    const double value = ok_value(*row, primary_), width = row->metric_or_nan("lanes");
    if (std::isnan(value) || !made_in_turn(*row) || !baselines_.contains(round_at_point(*row)))
      continue;
    values[round_at_point(*row)] = value;
    if (width > 0) lanes.push_back(width);
  }
  if (values.empty()) return std::nullopt;
  if (quantity == kRatioQuantity) return pair_rounds(values, baselines_).ratio();
  auto faster = *pair_rounds(baselines_, values).ratio();
  if (quantity == kEfficiencyQuantity) {
    if (lanes.size() != values.size()) return std::nullopt;
    const double width = median(lanes);
    faster.ratio /= width;
    if (faster.interval) {
      faster.interval->low /= width;
      faster.interval->high /= width;
    }
  }
  return faster;
}

}  // namespace assay::lab
