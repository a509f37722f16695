// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a machine makes of a comparison of something with itself (A/A): the size of difference that
// it invents, and how often the gate believes it.

#include <span>
#include <vector>

#include "lab/stats/gate.h"
#include "lab/stats/interval.h"

namespace assay::lab {

struct Rate {
  int count = 0, trials = 0;
  double rate = 0;    // count / trials
  Interval interval;  // Clopper and Pearson
};
// Throws UserError unless 0 ≤ count ≤ trials and trials ≥ 1.
Rate rate_of(int count, int trials, double confidence = 0.95);

struct AaSummary {
  int comparisons = 0;
  double floor = 0;    // relative: exp(99th percentile of |median d|) − 1
  double largest = 0;  // relative: of the largest |median d|
  double sigma_d = 0;  // median over the comparisons of robust_sigma(d)
  Rate false_alarms;   // REGRESSED at the tolerance asked for, in either direction
  Rate unresolved;     // neither PASS nor REGRESSED, of 2·comparisons
  Rate excludes_one;   // the interval of the ratio does not hold 1: nominal 1 − confidence
};

// Each element is the d_r of one comparison of a thing with itself. Every comparison is judged by
// the gate twice, once for each of the two names as baseline, so that trials = 2·comparisons for
// verdicts. With fewer than 100 comparisons the 99th percentile interpolates up to the largest
// value seen; `comparisons` says how much the floor is worth. Throws UserError when there are none,
// and for values that are not finite.
AaSummary summarise_aa(std::span<const std::vector<double>> comparisons,
                       const GateSettings& settings);

// δ = max(asked, floor), both relative.
double effective_tolerance(double asked, double floor);

}  // namespace assay::lab
