// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lab/beside/pairs.h"

namespace assay::lab {

// Quantities that no row has: its primary metric over the baseline's in the same run and round; how
// much faster that is; and that over the lanes it took.
inline constexpr std::string_view kRatioQuantity = "ratio", kSpeedupQuantity = "speedup",
                                  kEfficiencyQuantity = "efficiency";
bool is_of_baseline(std::string_view quantity);

// The baselines among some rows, by run, round and point. Of a point there is one, that of most
// rows: ratios to others say something else. A baseline that nobody was measured beside is none.
class BaselineRatios {
 public:
  BaselineRatios(std::span<const Row* const> rows, std::string primary_metric);

  // That quantity of rows that belong together (one provider, one point), by the one formula for
  // ratios, with the interval in `low` and `high` in their order. Nothing where no row has a
  // baseline, or where an efficiency is asked for and lanes are not known.
  std::optional<PairedRatio> of(std::string_view quantity, std::span<const Row* const> rows) const;

 private:
  std::string primary_;
  ByRound baselines_;
};

}  // namespace assay::lab
