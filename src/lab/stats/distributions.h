// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The few textbook distributions that tests, intervals and sample sizes need.

#include "lab/stats/interval.h"

namespace assay::lab {

// Φ(x), and its inverse for 0 < p < 1 (otherwise UserError). Accurate to a few units in the last
// place of Φ; the inverse is found by bisection, in about a microsecond.
double normal_cdf(double x);
double normal_quantile(double p);

// P(Bin(n, p) ≤ k), 0 for k < 0 and 1 for k ≥ n. O(n). Throws UserError unless 0 ≤ p ≤ 1.
double binomial_cdf(int n, int k, double p);

// The interval of Clopper and Pearson for the chance behind k successes in n trials: it covers with
// at least `confidence`, whatever the chance is. [0, 1] for no trials. Throws UserError unless
// 0 ≤ k ≤ n and 0 < confidence < 1. O(n log 1/ε).
Interval clopper_pearson(int k, int n, double confidence = 0.95);

}  // namespace assay::lab
