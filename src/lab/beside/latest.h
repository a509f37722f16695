// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lab/record/row.h"

namespace assay::lab {

// Of each provider at each place the rows of the newest run that says something of it (one whose
// attempts are not all void, where there is one); their order stays.
std::vector<Row> latest_rows(std::vector<Row> rows);

}  // namespace assay::lab
