// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "lab/site/site_index.h"

namespace assay::lab {

// Every series with a value in at least two runs: [{at: [summary numbers, by run]}].
Json site_history(const SiteIndex& index);

}  // namespace assay::lab
