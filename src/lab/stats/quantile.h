// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace assay::lab {

// The q-quantile, 0 ≤ q ≤ 1, by linear interpolation between order statistics: with h = (n − 1)·q,
// x_(⌊h⌋) + (h − ⌊h⌋)·(x_(⌊h⌋+1) − x_(⌊h⌋)), counted from 0. This is type 7 of Hyndman and Fan, and
// what NumPy does unless told otherwise. The values come in any order and are not changed.
//
// There must be at least one value and all must be finite, since neither a place among NaNs nor a
// point between infinities is defined: otherwise UserError, which names the position and the value.
// O(n).
double quantile(std::span<const double> values, double q);

// The 0.5-quantile: the middle value, or the mean of the two middle ones. Same conditions.
double median(std::span<const double> values);

}  // namespace assay::lab
