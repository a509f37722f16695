// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lab/record/protocol.h"
#include "lab/record/row.h"

namespace assay::lab {

// Writes `<directory>/<attempt_id>.json`: the phases of an attempt as slices, and in them the
// stages of its calls (lab/record/stage_slices.h), in the JSON format that Perfetto and
// chrome://tracing open.
void write_trace(const std::string& directory, const Row& row,
                 const std::vector<PhaseTime>& phases);

}  // namespace assay::lab
