// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/stopping.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace assay::lab {

std::optional<int> next_look(int rounds) {
  const auto next = std::ranges::upper_bound(kLooks, rounds);
  if (next == kLooks.end()) return std::nullopt;
  return *next;
}

bool is_look(int rounds) { return std::ranges::binary_search(kLooks, rounds); }

double precision_of(const Interval& ratio) {
  if (!(ratio.low > 0) || !(ratio.high >= ratio.low) || !std::isfinite(ratio.high)) {
    fail("precision: the interval of a ratio has positive ends in order, got {} and {}", ratio.low,
         ratio.high);
  }
  return std::expm1(0.5 * (std::log(ratio.high) - std::log(ratio.low)));
}

Stopping decide(int rounds, const std::optional<Interval>& ratio, double target) {
  if (!(target > 0) || !std::isfinite(target)) {
    fail("the precision must be positive and finite, got {}", target);
  }
  if (is_look(rounds) && ratio && precision_of(*ratio) <= target) return Stopping::kMet;
  return rounds >= kMaxRounds ? Stopping::kExhausted : Stopping::kContinue;
}

}  // namespace assay::lab
