// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lab/record/row.h"

namespace assay::lab {

// The rows that Selection::latest picks, for rows that come from anywhere; their order stays.
std::vector<Row> latest_rows(std::vector<Row> rows);

}  // namespace assay::lab
