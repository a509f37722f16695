// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/figures/baseline_ratio.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

std::string round_of(const Row& row) {
  return fmt::format("{} {} {}", row.run_id, row.round, canonical_json(row.point));
}

}  // namespace

bool is_of_baseline(std::string_view quantity) {
  return quantity == kRatioQuantity || quantity == kSpeedupQuantity ||
         quantity == kEfficiencyQuantity;
}

BaselineRatios::BaselineRatios(std::span<const Row* const> rows, std::string primary_metric)
    : primary_(std::move(primary_metric)) {
  for (const Row* row : rows) {
    const double value = row->metric_or_nan(primary_);
    const bool is_baseline = row->provenance.baseline == row->provider;
    if (is_baseline && std::isfinite(value) && value > 0) baselines_[round_of(*row)] = value;
  }
}

std::optional<PairedRatio> BaselineRatios::of(std::string_view quantity,
                                              std::span<const Row* const> rows) const {
  std::vector<double> values, baselines, lanes;
  for (const Row* row : rows) {
    const auto found = baselines_.find(round_of(*row));
    const double value = row->metric_or_nan(primary_), width = row->metric_or_nan("lanes");
    if (found == baselines_.end() || !std::isfinite(value) || value <= 0) continue;
    values.push_back(value);
    baselines.push_back(found->second);
    if (width > 0) lanes.push_back(width);
  }
  if (values.empty()) return std::nullopt;
  if (quantity == kRatioQuantity) return paired_ratio(values, baselines);
  auto faster = paired_ratio(baselines, values);
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
