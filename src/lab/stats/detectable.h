// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What "no change" is worth: the smallest effect that the rounds at hand would have shown.

#include <span>

namespace assay::lab {

// The spread of the differences of the rounds as the median sees it: 1.4826 times the median
// absolute deviation, which is the standard deviation for normal values and is not moved by a few
// spikes; the standard deviation itself where more than half of the values are equal, and for fewer
// than ten, whose intervals span nearly all of them, spikes too. Zero for fewer than two values.
// Finite values only (UserError).
double robust_sigma(std::span<const double> d);

// The relative change that is seen with chance `power` at the two-sided level alpha:
// exp[1.2533·(z_{1−α/2} + z_{power})·σ_d/√R] − 1. A figure of large samples: at 10 rounds the exact
// interval needs up to a third more (docs/methods/statistics.md has the measured powers).
// Throws UserError unless σ_d ≥ 0, rounds ≥ 1, and alpha and power lie in (0, 1).
double minimum_detectable_effect(double sigma_d, int rounds, double alpha = 0.05,
                                 double power = 0.8);

// The rounds for which the minimum detectable effect is at most `effect` (> 0, relative), never
// fewer than an interval needs at this level.
int rounds_needed(double effect, double sigma_d, double alpha = 0.05, double power = 0.8);

}  // namespace assay::lab
