// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ratio of two sets of attempts that share no rounds: runs made at different times.
//
// Nothing cancels here: what the machine did between the two runs is part of the ratio, and no
// interval knows of it. Prefer paired_ratio.h wherever both sides can be measured together.

#include <optional>
#include <span>

#include "lab/stats/interval.h"
#include "lab/stats/rank_sum.h"

namespace assay::lab {

struct UnpairedRatio {
  int a_count = 0, b_count = 0;
  double ratio = 0;                  // exp of the median of all ln(b_j / a_i): Hodges and Lehmann
  std::optional<Interval> interval;  // nothing: too few attempts for this confidence
  bool exact = true;                 // false: more pairs than RankSum::kExactPairs
};

// The ratio of b to a (below 1, b is smaller) by rank inversion: the k-th smallest and the k-th
// largest of all ln(b_j/a_i), k from the exact distribution of U. It covers the ratio for any two
// distributions that differ by a factor. The values are one per attempt, in any order.
//
// Values that are not positive and finite are refused with a UserError that names the side, the
// position and the value; so is an empty side. Memory for m + n values, a time proportional to (m +
// n)·log(m + n), and what RankSum costs.
UnpairedRatio unpaired_ratio(std::span<const double> a, std::span<const double> b,
                             double confidence = 0.95);
// The same with the distribution at hand, for many samples of one size (a.size(), b.size()).
UnpairedRatio unpaired_ratio(std::span<const double> a, std::span<const double> b,
                             const RankSum& distribution, double confidence = 0.95);

}  // namespace assay::lab
