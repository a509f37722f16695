// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "lab/site/site_index.h"

namespace assay::lab {

// Every series with a value in at least two runs, as
//   at        the summaries of its runs, by run
//   p         of its strongest cut; 1 where the series is too short for one
//   segments  [{first, last, level, relative}]: stretches of one level, as positions in `at`
//   changes   [{position, p, ratio}]: where a stretch begins, and the new level over the old one;
//             only of series that changed by Benjamini and Hochberg at 5 % over all of them
//   relative, relative_low, relative_high
//             each run's median and interval over the level of the first stretch
//   last      {ratio, low, high}: the newest run over the one before, by ranks of the attempts,
//   null
//             bounds where there are too few
Json site_history(const SiteIndex& index);

}  // namespace assay::lab
