// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lab/beside/pairs.h"
#include "lab/record/row.h"

namespace assay::lab {

// What the files of the row's case held when it was measured, as one text; empty where the case is
// in no file.
std::string contents_of(const Row& row);

// Of a series' rows, in the order they were made, leaves those whose files held what they held at
// the last: a kernel that was changed is no repetition of what it was. Returns how many went.
int leave_newest_contents(RowPointers& rows);

}  // namespace assay::lab
