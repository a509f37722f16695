// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The exact interval for a median: between two order statistics, without any assumption on the
// distribution but that the values are independent and equally likely above and below the median.

#include <optional>

namespace assay::lab {

// P(Bin(n, ½) ≤ k), the chance that at most k of n values lie below the median. 0 for k < 0.
double fair_binomial_cdf(int n, int k);

// The rank k of the interval [x_(k), x_(n+1−k)] (counted from 1) that covers the median with at
// least this confidence: the largest k with P(Bin(n, ½) ≤ k − 1) ≤ α/2, where α = 1 − confidence.
// Nothing when even [x_(1), x_(n)] covers it too seldom. Throws UserError unless 0 < confidence < 1
// and n ≥ 0.
std::optional<int> sign_interval_rank(int n, double confidence);

// The chance with which [x_(k), x_(n+1−k)] covers the median: what the rank above really gives,
// never less than the confidence that was asked for. 1 ≤ k ≤ (n + 1) / 2.
double sign_interval_coverage(int n, int k);

// The smallest n that has an interval: 6, 8 and 11 for 0.95, 0.99 and 0.999.
int minimum_rounds(double confidence);

}  // namespace assay::lab
