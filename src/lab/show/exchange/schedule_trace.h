// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/json.h"
#include "lab/record/row.h"

namespace assay::lab {

// When each attempt ran and on what, in Chrome's trace format, which Perfetto and chrome://tracing
// open: a process for each run and machine, in it a thread for each core group or device, on it a
// slice for each attempt, and within that the phases the row knows, one after another from its
// start, and within those the stages of calls (lab/record/stage_slices.h). Times in microseconds
// since the first attempt of the run. Rows without times (imported ones, plans refused) have no
// slice; `otherData` counts them.
Json schedule_trace(std::span<const Row> rows);

}  // namespace assay::lab
