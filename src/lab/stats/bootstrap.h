// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Intervals for quantiles, which have no exact ones in attempts of several batches each.
//
// The obvious bootstrap draws from all batches at once and treats batches of one process as
// independent, which they are not. Here attempts are drawn first, then batches within each.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lab/stats/interval.h"

namespace assay::lab {

inline constexpr int kBootstrapDraws = 10'000;
inline constexpr int kBootstrapMinimum = 10;  // attempts on each side

struct QuantileRatio {
  double level = 0;  // of the quantile
  double ratio = 0;  // quantile of b's batches over that of a's: below 1, b is smaller
  std::optional<Interval> interval;  // nothing: under kBootstrapMinimum attempts on a side
  int draws = kBootstrapDraws;
  std::uint64_t seed = 0;  // gives the same interval again
};

// The ratio of the q-quantiles of all batches of b and of a, each attempt a list of its batches,
// with the percentile interval of the hierarchical bootstrap. Not for q = 0: the interval of a
// minimum covers far too seldom (use 0.1), which is refused with a UserError, as are q outside
// (0, 1), an empty side or attempt, and values that are not positive and finite.
// O(draws · batches); about 0.1 s for twice 20 attempts of 20 batches.
QuantileRatio bootstrap_quantile_ratio(std::span<const std::vector<double>> a,
                                       std::span<const std::vector<double>> b, double q,
                                       std::uint64_t seed, double confidence = 0.95,
                                       int draws = kBootstrapDraws);

}  // namespace assay::lab
