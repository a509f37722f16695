// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "lab/site/site_index.h"

namespace assay::lab {

// Every series with a value in at least two runs, as
//   points    by run: {run, summary, value, low, high, relative, relative_low, relative_high}, the
//             relative ones over the level of the first segment; no bounds: too few attempts
//   p         of its strongest cut; 1 where the series is too short for one
//   segments  [{first, last, level, relative}]: stretches of one level, as positions in `points`
//   changes   [{position, p, ratio}]: where a stretch begins, and the new level over the old one;
//             only of series that changed by Benjamini and Hochberg at 5 % over all of them
//   last      {ratio, low, high}: the newest run over the one before, by ranks of the attempts,
//   null
//             bounds where there are too few
Json site_history(const SiteIndex& index);

}  // namespace assay::lab
