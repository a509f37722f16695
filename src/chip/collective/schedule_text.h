// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "chip/collective/schedule.h"

namespace assay::chip {

// A schedule as lines of words, for programs that replay it over a real network or in another
// simulator:
//
//   schedule RANKS EXTENT
//   program RANK STAGES
//   stage SENDS RECEIVES                         (of the program above, in order)
//   send PEER CHANNEL RANGES BEGIN END …
//   receive PEER CHANNEL ADDS RANGES BEGIN END …
std::string schedule_text(const Schedule& schedule);

}  // namespace assay::chip
