// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Variances of many rows, each from a few values only, made steadier by what the rows have in
// common (Smyth, 2004): among a thousand variances of six values some are far too small by chance
// alone, and would make the largest of their rows' statistics.

#include <span>

namespace assay::lab {

struct RowVariance {
  double variance = 0;  // ≥ 0
  double freedom = 0;   // degrees of freedom; 0: nothing is known of it
};

// What the rows' variances have in common: as if each had `freedom` more values of `variance`.
struct VariancePrior {
  double variance = 0, freedom = 0;
  // The row's own variance shrunk towards it.
  double moderate(const RowVariance& row) const;
};

// True variances are taken to scatter about a common one like scaled inverse χ²; the prior is
// fitted to the logarithms of the rows' variances. Its freedom is large where rows are alike (at
// most 30), small where they differ (at least 1), and 4 where there are too few rows to tell.
VariancePrior fit_prior(std::span<const RowVariance> rows);

}  // namespace assay::lab
