// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/record/row.h"

namespace assay::lab {

struct StageSlice {
  std::string name;
  double start_us = 0;  // since the phase began
  double us = 0;
};

// The stages of calls that a row knows within one phase of its attempt: in "cold" those of the
// first call, one after another; in "steady" those of the last call of each batch, which ended with
// it. Nothing for other phases, for rows without stages, and where they would not fit into
// `phase_us`, the length of the phase.
std::vector<StageSlice> stages_in(const Row& row, std::string_view phase, double phase_us);

}  // namespace assay::lab
