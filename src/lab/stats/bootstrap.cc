// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "lab/stats/quantile.h"
#include "lab/stats/random.h"

namespace assay::lab {
namespace {

using Attempts = std::span<const std::vector<double>>;

void check_side(Attempts attempts, const char* side) {
  if (attempts.empty()) fail("bootstrap: side {} has no attempts", side);
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    if (attempts[i].empty()) fail("bootstrap: an attempt of side {} has no batches: {}", side, i);
    for (const double value : attempts[i]) {
      if (!std::isfinite(value) || value <= 0) {
        fail("bootstrap: attempt {} of side {} has a batch that is not positive and finite: {}", i,
             side, value);
      }
    }
  }
}

double pooled_quantile(Attempts attempts, double q) {
  std::vector<double> all;
  for (const auto& batches : attempts) all.insert(all.end(), batches.begin(), batches.end());
  return quantile(all, q);
}

double resampled_quantile(Attempts attempts, double q, RandomStream& random,
                          std::vector<double>& scratch) {
  scratch.clear();
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const auto& batches = attempts[random.below(attempts.size())];
    for (std::size_t j = 0; j < batches.size(); ++j) {
      scratch.push_back(batches[random.below(batches.size())]);
    }
  }
  return quantile(scratch, q);
}

}  // namespace

QuantileRatio bootstrap_quantile_ratio(Attempts a, Attempts b, double q, std::uint64_t seed,
                                       double confidence, int draws) {
  if (!(q > 0 && q < 1)) fail("bootstrap: the quantile must lie inside (0, 1), got {}", q);
  if (!(confidence > 0 && confidence < 1)) {
    fail("the confidence must lie between 0 and 1, got {}", confidence);
  }
  if (draws < 100) fail("bootstrap: at least 100 draws are needed, got {}", draws);
  check_side(a, "a");
  check_side(b, "b");
  QuantileRatio result{q, pooled_quantile(b, q) / pooled_quantile(a, q), {}, draws, seed};
  if (std::min(a.size(), b.size()) < static_cast<std::size_t>(kBootstrapMinimum)) return result;
  RandomStream random(seed, "bootstr");
  std::vector<double> ratios, scratch;
  ratios.reserve(static_cast<std::size_t>(draws));
  for (int draw = 0; draw < draws; ++draw) {
    const double of_b = resampled_quantile(b, q, random, scratch);
    ratios.push_back(of_b / resampled_quantile(a, q, random, scratch));
  }
  const double tail = (1 - confidence) / 2;
  result.interval = Interval{quantile(ratios, tail), quantile(ratios, 1 - tail), confidence};
  return result;
}

}  // namespace assay::lab
