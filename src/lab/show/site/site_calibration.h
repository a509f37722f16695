// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "lab/show/site/site_index.h"

namespace assay::lab {

// What each machine made of a comparison of a thing with itself: rows of one provider under two
// names (`naive` and `naive@b`, the same code), paired by round.
//   machine, rounds, comparisons, floor, largest, sigma_d
//   false_alarms, unresolved, excludes_one: {rate, low, high, count, trials}
//   list: [{case, point, run, provider, other, rounds, ratio, low, high}]
//   recorded: {measured, comparisons, floor}, the newest that rows carry; null: none
// Machines without either are not there.
Json site_calibrations(const SiteIndex& index);

}  // namespace assay::lab
