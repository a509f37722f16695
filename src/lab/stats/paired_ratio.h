// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ratio of two providers' times, from attempts made in the same rounds.
//
// The obvious approach, the ratio of two medians with an interval from the spread of each side,
// fails when the machine drifts: what changes both sides of a round alike then widens the interval
// or fakes a difference. A round therefore counts once, as d = ln t_A − ln t_B.

#include <optional>
#include <span>

#include "lab/stats/interval.h"

namespace assay::lab {

struct PairedRatio {
  int rounds = 0;
  double ratio = 0;                  // exp(median d): below 1, A is smaller
  std::optional<Interval> interval;  // nothing: too few rounds for this confidence
};

// exp(median d) with the exact order-statistic interval [exp d_(k), exp d_(R+1−k)] (see
// sign_interval.h). a[r] and b[r] are the values of round r, in any order of rounds; ties need no
// care, the interval then covers with more than the stated chance.
//
// A time is positive and finite. Zero, negative, infinite or NaN values are refused with a
// UserError that names the round and the value: leaving them out here would be a choice made after
// looking at the time. No rounds: UserError. O(R log R).
PairedRatio paired_ratio(std::span<const double> a, std::span<const double> b,
                         double confidence = 0.95);

// The same from d = ln A − ln B of each round. UserError where one is not finite, or there is none.
PairedRatio ratio_of_differences(std::span<const double> d, double confidence = 0.95);

}  // namespace assay::lab
