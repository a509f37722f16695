// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/figures/baseline_ratio.h"

#include <cmath>
#include <vector>

#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

// Points have rounds of their own.
RoundId round_of(const Row& row) {
  return {row.run_id + " " + canonical_json(row.point), row.round};
}

}  // namespace

bool is_of_baseline(std::string_view quantity) {
  return quantity == kRatioQuantity || quantity == kSpeedupQuantity ||
         quantity == kEfficiencyQuantity;
}

BaselineRatios::BaselineRatios(std::span<const Row* const> rows, std::string primary_metric)
    : primary_(std::move(primary_metric)) {
  for (const Row* row : rows) {
    const double value = ok_value(*row, primary_);
    const bool is_baseline = row->provenance.baseline == row->provider && made_in_turn(*row);
    if (is_baseline && !std::isnan(value)) baselines_[round_of(*row)] = value;
  }
}

std::optional<PairedRatio> BaselineRatios::of(std::string_view quantity,
                                              std::span<const Row* const> rows) const {
  ByRound values;
  std::vector<double> lanes;
  for (const Row* row : rows) {
    const double value = ok_value(*row, primary_), width = row->metric_or_nan("lanes");
    if (std::isnan(value) || !made_in_turn(*row) || !baselines_.contains(round_of(*row))) continue;
    values[round_of(*row)] = value;
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
