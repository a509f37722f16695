// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The larger parts of site_data()'s document, each made by the file of its name.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "lab/record/ceilings.h"
#include "lab/show/site/site_index.h"

namespace assay::lab {

// What a page shows of one provider at one point in one run: its numbers with their intervals, in
// SI units, null where something is not known.
Json site_summary(const IndexedSummary& summary, const std::vector<Row>& rows);
// Whether a metric is told beside the primary one ("more" of a summary): parts of a call, and what
// a search or a compilation took and brought.
bool is_followed(std::string_view metric);

// Every machine of the rows: what it is, how noisy it was while the rows were made, and its
// ceilings where they are known.
Json site_machines(const SiteIndex& index, const std::map<std::string, Ceilings>& ceilings);

// What `assay history` says of every series that has a value at two commits or more:
//   points    by time: {run, runs, summary, value, low, high, relative, relative_low,
//             relative_high}: one for each commit, or for a run of uncommitted changes. `run` is
//             its first run, `summary` the series' summary in it. The relative ones are over the
//             level of the first segment. No bounds: too few attempts
//   p         of its strongest cut; 1 where the series is too short for one
//   segments  [{first, last, level, relative}]: stretches of one level, as positions in `points`
//   changes   [{position, p, ratio}]: where a stretch begins, and the new level over the old one
//   last      {ratio, low, high, differs}: the newest point over the one before, by ranks of their
//             attempts; null bounds where there are too few; differs: by more than runs made apart
//             do, judged over all series
Json site_history(const SiteIndex& index);

// Runs against runs: of each series the ratios of its newest runs, each to each, by ranks of
// attempts, as [summary of the earlier run, of the later one, ratio later over earlier, low, high,
// whether they differ by more than runs made apart do, judged over all rows of the two]; the ratio
// alone where there are too few attempts. How many runs of a series take part depends on how many
// series there are, so that a page does not grow with their square.
Json site_pairs(const SiteIndex& index);

// What each machine made of a comparison of a thing with itself: rows of one provider under two
// names (`naive` and `naive@b`, the same code), paired by round.
//   machine, rounds, comparisons, floor, largest, sigma_d
//   false_alarms, unresolved, excludes_one: {rate, low, high, count, trials}
//   list: [{case, point, run, provider, other, rounds, ratio, low, high}]
//   recorded: {measured, comparisons, floor}, the newest that rows carry; null: none
// Machines without either are not there.
Json site_calibrations(const SiteIndex& index);

}  // namespace assay::lab
