// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "lab/stats/interval.h"

namespace assay::lab {

// The exact interval for the median of independent values: between two of them, whatever their
// distribution (see sign_interval.h). Nothing when there are too few for this confidence. The
// values come in any order and must be finite, else UserError. O(n log n).
std::optional<Interval> median_interval(std::span<const double> values, double confidence = 0.95);

}  // namespace assay::lab
