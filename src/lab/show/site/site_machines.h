// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "lab/record/ceilings.h"
#include "lab/show/site/site_index.h"

namespace assay::lab {

// Every machine of the rows: what it is, how noisy it was while the rows were made, and its
// ceilings where they are known.
Json site_machines(const SiteIndex& index, const std::map<std::string, Ceilings>& ceilings);

}  // namespace assay::lab
