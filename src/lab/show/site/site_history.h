// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "lab/show/site/site_index.h"

namespace assay::lab {

// What `assay history` says of every series that has a value at two commits or more:
//   points    by time: {run, runs, summary, value, low, high, relative, relative_low,
//             relative_high}: one for each commit, or for a run of uncommitted changes. `run` is
//             its first run, `summary` the series' summary in it. The relative ones are over the
//             level of the first segment. No bounds: too few attempts
//   p         of its strongest cut; 1 where the series is too short for one
//   segments  [{first, last, level, relative}]: stretches of one level, as positions in `points`
//   changes   [{position, p, ratio}]: where a stretch begins, and the new level over the old one
//   last      {ratio, low, high}: the newest point over the one before, by ranks of their attempts;
//             null bounds where there are too few
Json site_history(const SiteIndex& index);

}  // namespace assay::lab
