// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "lab/show/site/site_index.h"

namespace assay::lab {

// What a page shows of one provider at one point in one run: its numbers with their intervals, in
// SI units, null where something is not known.
Json site_summary(const IndexedSummary& summary, const std::vector<Row>& rows);

}  // namespace assay::lab
